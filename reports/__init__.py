"""What it means: a stored run and its verdicts, for a person to read."""
