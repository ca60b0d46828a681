"""Start of the command line as ``python -m detaudit``."""

import sys

from detaudit.cli import main

sys.exit(main())
