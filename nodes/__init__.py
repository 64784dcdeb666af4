"""Who it is done to: protocols from the papers, the node kernel, the node program."""
