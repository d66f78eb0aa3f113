"""What tests do by hand: write files, run git, set ccc up, make an executable."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""
POSIX = os.name == "posix"
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
"""Who commits: a fixture of a module is made before the first test's own user."""
SECONDS = 60
"""The deadline of any command that is run here."""


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file and the directories above it; text as UTF-8 with its line ends as given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def run_git(root: Path, *arguments: str) -> str:
    """Run git in *root* and return what it printed; a failure shows git's own words."""
    done = subprocess.run(
        ["git", *IDENTITY, *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return os.fsdecode(done.stdout)


def let_go(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Let processes that say ``ready`` and wait for a line go on, all at once."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()


def write_global_settings(directory: Path, address: str) -> Path:
    """Write ccc's global settings for the embedding server at *address*."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "global_settings.yml"
    path.write_text(
        textwrap.dedent(f"""\
            embedding: {{provider: litellm, model: openai/hashing, min_interval_ms: 0}}
            envs: {{OPENAI_API_BASE: "{address}", OPENAI_API_KEY: none}}
        """),
        encoding="utf-8",
    )
    return path


def stop_daemon(ccc: Path, environ: Mapping[str, str]) -> None:
    """Stop the daemon of the user with *environ*, and hold that nothing of theirs is left."""
    subprocess.run(
        [str(ccc), "daemon", "stop"],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    left = _processes_of(environ["COCOINDEX_CODE_DIR"])
    _, alive = psutil.wait_procs(left, timeout=5)
    lines = [f"{process.pid}: {shlex.join(process.cmdline())}" for process in alive]
    for process in alive:
        process.kill()
    assert not lines, f"still running after `ccc daemon stop`: {lines}"


def _processes_of(directory: str) -> list[psutil.Process]:
    """The daemons, and their children, that serve the COCOINDEX_CODE_DIR *directory*."""
    found = []
    for process in psutil.process_iter():
        try:
            served = process.environ().get("COCOINDEX_CODE_DIR") == directory
            if served and "run-daemon" in process.cmdline():
                found += [process, *process.children(recursive=True)]
        except psutil.Error:
            continue
    return found


def posix_script(directory: Path, name: str, body: str) -> Path:
    """Write *body* as a Python script that ``directory/name`` runs."""
    source = write_file(directory / f".{name}.py", body)
    path = write_file(
        directory / name,
        # A shebang with this Python's path could be longer than a kernel takes.
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {shlex.quote(str(source))} "$@"\n',
    )
    path.chmod(0o755)
    return path


def windows_launcher(directory: Path, name: str, body: str) -> Path:
    """An ``.exe``, as pip makes one: its launcher, the line of the Python, and a zipped script."""
    from pip._vendor.distlib import scripts

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("__main__.py", body)
    launcher = Path(scripts.__file__).with_name("t64.exe").read_bytes()
    shebang = f'#!"{sys.executable}" -I\r\n'.encode()
    path = directory / f"{name}.exe"
    path.write_bytes(launcher + shebang + archive.getvalue())
    return path
