"""What every test stands on: an isolated user, real git, real ccc, an embedder, fake executables.

`scripts/test.py` makes the real parts and names them in ``VERA_CCC_TEST_*``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest

from helpers import (
    POSIX,
    ROOT,
    posix_script,
    run_git,
    stop_daemon,
    windows_launcher,
    write_file,
    write_global_settings,
)
from running_worker import Running

hypothesis.settings.register_profile(
    "vera",
    max_examples=int(os.environ.get("VERA_CCC_HYPOTHESIS_EXAMPLES", "40")),
    deadline=None,  # a shared machine's pauses are no failures
    derandomize="CI" in os.environ,
    database=None,  # it would be kept in the checkout
)
hypothesis.settings.load_profile("vera")


class MakeRepository(Protocol):
    def __call__(
        self, files: Mapping[str, str | bytes] | None = None, *, name: str = "repo"
    ) -> Path: ...


class MakeExecutable(Protocol):
    def __call__(self, name: str, body: str, *, directory: Path | None = None) -> Path: ...


@pytest.fixture(autouse=True)
def isolated_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An empty HOME for each test; what a developer has set reaches none. Returns the HOME."""
    home = tmp_path_factory.mktemp("home")
    for name in filter(_is_personal, list(os.environ)):
        monkeypatch.delenv(name)
    for name, value in _user_environment(home).items():
        monkeypatch.setenv(name, value)
    return home


def _is_personal(name: str) -> bool:
    """Whether a variable is a developer's own setting rather than the machine's or the tests'."""
    if name.startswith("VERA_CCC_"):
        return not name.startswith(("VERA_CCC_TEST_", "VERA_CCC_HYPOTHESIS_"))
    return name.startswith(("GIT_", "COCOINDEX_", "XDG_"))


def _user_environment(home: Path) -> dict[str, str]:
    """The variables of a user who has set up git and nothing else."""
    config = home / ".gitconfig"
    config.write_text(
        "[user]\n\tname = Test\n\temail = test@example.invalid\n"
        "[init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n",
        encoding="utf-8",
    )
    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "APPDATA": str(home / "AppData" / "Roaming"),
        "LOCALAPPDATA": str(home / "AppData" / "Local"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "COCOINDEX_CODE_DIR": str(home / ".cocoindex_code"),
        "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
        "VERA_CCC_TIMEOUT_WORDS": "0",  # a busy machine may keep ccc longer than a user waits
        "PYTHONPATH": str(ROOT),
    }


def _named(variable: str) -> Path:
    """The real part that *variable* names."""
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} is not set: run the tests with scripts/test.py.", pytrace=False)
    return Path(value)


@pytest.fixture(scope="session")
def ccc_executable() -> Path:
    """The real ccc."""
    return _named("VERA_CCC_TEST_CCC")


@pytest.fixture(scope="session")
def ccc_python() -> Path:
    """The Python that the real ccc runs in; it has ccc's own dependencies, PyYAML among them."""
    return _named("VERA_CCC_TEST_CCC_PYTHON")


@pytest.fixture(scope="session")
def node_24() -> Path:
    """Node 24, for Pi 1.6.0."""
    return _named("VERA_CCC_TEST_NODE_24")


@pytest.fixture(scope="session")
def node_20() -> Path:
    """The oldest Node at hand that runs Pi 0.74.2 (20.6 or newer)."""
    return _named("VERA_CCC_TEST_NODE_20")


@pytest.fixture(scope="session")
def pi_16() -> Path:
    """The command line of Pi 1.6.0, for `node_24`."""
    return _named("VERA_CCC_TEST_PI_16")


@pytest.fixture(scope="session")
def pi_074() -> Path:
    """The command line of Pi 0.74.2, for `node_20`."""
    return _named("VERA_CCC_TEST_PI_074")


@pytest.fixture(scope="session")
def hashing_embedder() -> Iterator[str]:
    """The address (``http://127.0.0.1:PORT/v1``) of an embedding server that hashes words."""
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts" / "embedding_server.py"), "hashing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


@pytest.fixture(scope="session")
def short_directory() -> Iterator[Path]:
    """A directory whose path is short enough for the daemon's socket (under 100 bytes)."""
    run = os.environ.get("VERA_CCC_TEST_RUN")
    usual = "/tmp" if POSIX and Path("/tmp").is_dir() else None
    path = Path(tempfile.mkdtemp(prefix="c", dir=run or usual)).resolve()
    yield path
    shutil.rmtree(path, ignore_errors=not POSIX)


@pytest.fixture(scope="session")
def ccc_home(
    ccc_executable: Path, hashing_embedder: str, short_directory: Path
) -> Iterator[dict[str, str]]:
    """The whole environment of a user with a ready ccc and its daemon; for all tests together.

    Its COCOINDEX_CODE_DIR has global settings that name `hashing_embedder`. After the last test
    the daemon is stopped, and it is an error when a process of this user is left.
    """
    home = short_directory / "home"
    directory = short_directory / "ccc"
    home.mkdir()
    write_global_settings(directory, hashing_embedder)
    environ = {name: value for name, value in os.environ.items() if not _is_personal(name)}
    environ |= _user_environment(home)
    environ |= {"COCOINDEX_CODE_DIR": str(directory), "VERA_CCC_EXECUTABLE": str(ccc_executable)}
    yield environ
    stop_daemon(ccc_executable, environ)


@pytest.fixture
def ccc_user(ccc_home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """`ccc_home`, and this process's own environment is that user's for one test."""
    for name, value in ccc_home.items():
        monkeypatch.setenv(name, value)
    return ccc_home


@pytest.fixture
def git_repo(tmp_path: Path) -> MakeRepository:
    """Make a git repository with the given files, committed but for ignored ones."""

    def make(files: Mapping[str, str | bytes] | None = None, *, name: str = "repo") -> Path:
        root = tmp_path / name
        root.mkdir(parents=True)
        run_git(root, "init", "-q")
        for path, content in (files or {}).items():
            write_file(root / path, content)
        if files:
            run_git(root, "add", "-A")
            run_git(root, "commit", "-q", "-m", "files")
        return root

    return make


@pytest.fixture
def running() -> Iterator[list[Running]]:
    """The workers that a test starts; whatever is left of them is ended."""
    made: list[Running] = []
    yield made
    for each in made:
        each.clear()


@pytest.fixture
def fake_executable(tmp_path: Path) -> MakeExecutable:
    """Write a Python script as an executable of this system, run by this Python."""

    def make(name: str, body: str, *, directory: Path | None = None) -> Path:
        directory = directory or tmp_path / "bin"
        directory.mkdir(parents=True, exist_ok=True)
        script = textwrap.dedent(body)
        return (
            posix_script(directory, name, script)
            if POSIX
            else windows_launcher(directory, name, script)
        )

    return make
