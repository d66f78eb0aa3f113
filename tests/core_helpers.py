"""What the tests of the core share: bounded waits, processes by id, a ccc that does as told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

from helpers import ROOT
from vera_ccc_tools.ccc.client import Ccc, Query
from vera_ccc_tools.ccc.daemon import Daemon
from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.environment import Environment

STATUS = """\
Index stats:
  Chunks: 12
  Files:  3
  Languages:
    python: 9 chunks
    markdown: 3 chunks
"""
COMMANDS: dict[str, Callable[[Ccc, Path], object]] = {
    "version": lambda ccc, _root: ccc.version(),
    "init": lambda ccc, root: ccc.init(root, force=False, model=None, cancel=None),
    "index": lambda ccc, root: ccc.index(root),
    "search": lambda ccc, root: ccc.search(root, Query("x", 5)),
    "status": lambda ccc, root: ccc.status(root),
    "daemon": lambda ccc, _root: ccc.loaded_projects(),
    "doctor": lambda ccc, root: ccc.doctor(root, verbose=False),
}
"""Each command of ccc, with the smallest arguments."""


class MakeExecutable(Protocol):
    def __call__(self, name: str, body: str, *, directory: Path | None = None) -> Path: ...


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait for *condition*, and fail when it does not come true within *seconds*."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {condition}"
        pause.wait(0.01)


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def pid_in(path: Path, seconds: float = 10.0) -> int:
    """The process id that a child writes into the file *path*, once it has."""
    until(lambda: path.is_file() and path.read_text().endswith("\n"), seconds)
    return int(path.read_text())


@dataclass(frozen=True)
class FakeCcc:
    """An executable named ccc that writes down how it was called, then runs the body given."""

    path: Path
    log: Path

    def calls(self) -> list[dict[str, Any]]:
        """Each call: ``argv`` without the executable, ``cwd``, ``env``, ``stdin``."""
        if not self.log.is_file():
            return []
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def argvs(self) -> list[list[str]]:
        return [call["argv"] for call in self.calls()]


def fake_ccc(make: MakeExecutable, directory: Path, body: str = "") -> FakeCcc:
    """Make a fake ccc in *directory*; *body* is Python that knows ``argv``, ``json``, ``sys``."""
    log = directory / "calls.jsonl"
    record = f"""\
        import json, os, sys, time
        argv = sys.argv[1:]
        call = {{"argv": argv, "cwd": os.getcwd(), "env": dict(os.environ),
                "stdin": sys.stdin.read()}}
        with open({str(log)!r}, "a", encoding="utf-8") as log:
            log.write(json.dumps(call) + "\\n")
    """
    script = textwrap.dedent(record) + textwrap.dedent(body)
    return FakeCcc(make("ccc", script, directory=directory / "bin"), log)


def answer(*rows: dict[str, Any], **fields: Any) -> str:
    """What ``ccc search --json`` prints."""
    whole = {"type": "search", "success": True, "results": list(rows), "total_returned": len(rows)}
    return json.dumps({**whole, "offset": 0, "message": None, **fields}, separators=(",", ":"))


def row(path: str = "app.py", content: str = "x = 1", **fields: Any) -> dict[str, Any]:
    """One result of `answer`."""
    lines = {"start_line": 1, "end_line": 1 + content.count("\n")}
    return {"file_path": path, "language": "python", "content": content, "score": 0.5} | {
        **lines,
        **fields,
    }


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with *changes*."""
    return {**os.environ, **changes}


def places(variables: Mapping[str, str] | None = None) -> Places:
    """Where a user's ccc keeps things; this process's own without *variables*."""
    return Places(Environment(variables))


def daemon_of(variables: Mapping[str, str] | None = None) -> Daemon:
    return Daemon(places(variables))


def make_project(root: Path, *, indexed: bool = True) -> Path:
    """Make *root* look like a ccc project, with an index that only a fake ccc can read."""
    directory = root / ".cocoindex_code"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "settings.yml").write_text("exclude_patterns: []\n", encoding="utf-8")
    if indexed:
        (directory / "target_sqlite.db").write_bytes(b"x")
    return root


MakeCcc = Callable[..., tuple[Ccc, FakeCcc]]


def ccc_maker(make: MakeExecutable, directory: Path) -> MakeCcc:
    """Builds a `Ccc` whose executable runs a given body, with given variables."""

    def build(body: str, **environ: str) -> tuple[Ccc, FakeCcc]:
        fake = fake_ccc(make, directory, body)
        variables = environment(VERA_CCC_EXECUTABLE=str(fake.path), **environ)
        return Ccc.locate(Environment(variables)), fake

    return build


def printing(text: str, *, code: int = 0, error: str = "") -> str:
    """The body of a ccc that prints *text* and *error*, and ends with *code*."""
    return (
        f"sys.stdout.buffer.write({text.encode()!r}); "
        f"sys.stderr.buffer.write({error.encode()!r}); sys.exit({code})"
    )


def failing(call: Callable[[], object]) -> Failure:
    with pytest.raises(Failure) as caught:
        call()
    return caught.value


def vera(
    *arguments: str, cwd: Path = ROOT, environ: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[bytes]:
    """What a command line prints, and how it ends."""
    return subprocess.run(
        [sys.executable, "-m", "vera_ccc_tools", *arguments],
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
