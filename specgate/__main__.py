"""``python -m specgate``: the command line where no script is installed."""

import sys

from specgate.cli import main

sys.exit(main())
