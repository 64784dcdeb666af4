"""`python -m harness` is `hustings`."""

import sys

from harness.cli import main

sys.exit(main())
