"""``python -m vera_ccc_tools VERB``, and the console script ``vera-ccc``; see `cli/main.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vera_ccc_tools import __version__
from vera_ccc_tools.cli.terminal import Terminal, reopen_closed
from vera_ccc_tools.errors import Failure


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        reopen_closed()
        if argv in (["--version"], ["-V"]):  # without the rest: it shows how fast a start is
            Terminal(sys.stdout).write(f"{__version__}\n")
            return 0
        from vera_ccc_tools.cli.main import failed, run

        return run(argv)
    except Failure as failure:
        from vera_ccc_tools.cli.main import failed, run

        return failed(failure)
    except KeyboardInterrupt:  # while it is still being imported
        return 130


if __name__ == "__main__":
    sys.exit(main())
