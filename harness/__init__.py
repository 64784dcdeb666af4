"""Doing it: processes, relay, faults, engines, command line, pytest plugin."""
