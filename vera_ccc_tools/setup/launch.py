"""The command line that starts the server, as an agent's configuration names it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera_ccc_tools import bootstrap
from vera_ccc_tools.boot import invocation
from vera_ccc_tools.boot.environments import INSTALL_SECONDS
from vera_ccc_tools.boot.invocation import SCRIPT
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.process import Command, run

_BOOTSTRAP = "vera_ccc_tools/bootstrap.py"


@dataclass(frozen=True, slots=True)
class Launch:
    """What a verb of ours is started by: an executable and what comes before the verb."""

    command: str
    args: tuple[str, ...] = ()

    def line(self, *arguments: str) -> str:
        """The command line with *arguments*, as a person types it."""
        return invocation.line([self.command, *self.args, *arguments])


def find(environment: Environment | None = None) -> Launch:
    """The command line for this very copy of the package, good for any process of this user.

    An installation is started by its command where that is on PATH to stay, else by its own
    Python. A checkout is started by ``python3``: `bootstrap.py` goes on from any. Never by ``-m``,
    which would take modules of the project for Python's own.
    """
    environment = environment or Environment()
    script = str(bootstrap.ROOT / _BOOTSTRAP)
    if (bootstrap.ROOT / "pyproject.toml").is_file():
        found = os.name == "posix" and environment.executable("python3")
        return Launch("python3" if found else _base_python(), (script,))
    return Launch(SCRIPT) if _is_on_path(environment) else Launch(sys.executable, (script,))


def _is_on_path(environment: Environment) -> bool:
    """Whether the command is there, also outside of an activated environment, and complete."""
    if environment.get("VIRTUAL_ENV") or environment.executable(SCRIPT) is None:
        return False
    return not bootstrap.lacking(bootstrap.requirements("mcp"), sys.path)


def _base_python() -> str:
    """The interpreter that a virtual environment was made from: the latter may be deleted."""
    name = "bin/python3" if os.name == "posix" else "python.exe"
    base = Path(sys.base_prefix, name)
    return str(base) if base.is_file() else sys.executable


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether a server's entry starts this server, this copy of it or another."""
    command, args = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or "mcp" not in args:
        return False
    words = [word.replace("\\", "/") for word in args if isinstance(word, str)]
    program = command.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return program == SCRIPT or any(word.endswith(_BOOTSTRAP) for word in words)


def check(launch: Launch, directory: Path) -> None:
    """Start the server once, for its help; on first use that installs what it needs.

    Raises:
        Failure: ``server_fails`` with what it says.
    """
    program = launch.command
    if not Path(program).is_absolute():
        program = str(Environment().executable(program) or program)
    argv = (program, *launch.args, "mcp", "--help")
    finished = run(Command(argv, directory, os.environ), deadline=INSTALL_SECONDS)
    if finished.ended == "exit" and finished.returncode == 0:
        return
    said = (finished.stderr.tail or finished.stderr.head).decode(errors="replace").strip()
    last = " ".join(said.splitlines()[-2:]) or finished.ended
    raise Failure(
        "server_fails",
        f"The server does not start, so nothing was written: {last}",
        f"See what `{launch.line('mcp', '--help')}` says.",
    )
