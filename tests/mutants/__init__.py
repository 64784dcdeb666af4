"""Wrong Bullies, and what convicts each: the analyzer's own test."""
