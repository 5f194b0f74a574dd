"""`python -m mien`."""

import sys

from mien.cli import main

if __name__ == "__main__":
    sys.exit(main())
