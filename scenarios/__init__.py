"""What to do: scripted scenarios, each with the claim it exercises and the verdicts it expects."""
