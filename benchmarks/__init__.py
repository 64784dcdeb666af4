"""Benchmarks: `make bench` prints one table of ratios, each measured in one run."""
