"""Ends the process groups of a parent that died without ending them itself.

Run as a program of its own (POSIX only), its standard input a pipe from the parent. Each
line is ``+PGID`` (started) or ``-PGID`` (ended). When the pipe closes, the parent is gone,
and every group that is still open is killed. Even a parent ended by SIGKILL closes its pipe.
"""

import os
import signal
import sys


def main() -> None:
    """Follow the parent until it is gone, then end what it left."""
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    groups = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+" and group > 1:  # group 1 would be everything
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except OSError:
            continue  # it ended between the parent's death and now


if __name__ == "__main__":
    main()
