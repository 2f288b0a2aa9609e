"""``python -m checker.cli``: the same as the command ``bivalence``."""

import sys

from checker.cli.main import main

sys.exit(main())
