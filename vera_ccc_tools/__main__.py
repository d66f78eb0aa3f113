"""``python -m vera_ccc_tools VERB``, and the console script ``vera-ccc``; see `command_line.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code."""
    from vera_ccc_tools import command_line

    return command_line.main(sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
