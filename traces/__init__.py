"""What happened: events, their order, the cuts of it, the properties judged on each."""
