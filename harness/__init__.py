"""Doing it: processes, relay, faults, engines, command line, pytest plugin."""

MOST_NODES = 200  # of a run; here, because the command line imports little
