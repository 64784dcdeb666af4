"""`python -m nodes CONFIG`: one node in an interpreter of its own."""

import sys

from nodes.program import main

if len(sys.argv) != 2:
    sys.exit("usage: python -m nodes CONFIG")
main(sys.argv[1])
