"""How init writes: files whole, links and modes kept; and the line that starts the server."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers import POSIX, ROOT, write_file
from vera_ccc_tools.boot import environments
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.setup import changes as writing
from vera_ccc_tools.setup import guidance, init, launch
from vera_ccc_tools.setup.agents import AGENTS
from vera_ccc_tools.setup.changes import Change, ProjectFiles, apply
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.files import replace
from vera_ccc_tools.system.locks import held


def snapshot(root: Path) -> dict[str, bytes]:
    """All files."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the server's start for granted: it is another test's."""
    monkeypatch.setattr(launch, "check", lambda _launch, _directory: None)


# --- writing ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="links and modes are POSIX's")
def test_links_stay_links_and_modes_stay(tmp_path: Path) -> None:
    root, shared = tmp_path / "p", tmp_path / "shared"
    root.mkdir()
    write_file(shared / "claude.md", "# Shared\n").chmod(0o640)
    write_file(root / ".mcp.json", "{}").chmod(0o600)
    (root / "CLAUDE.md").symlink_to(shared / "claude.md")
    init.set_up(root, "claude")
    assert (root / "CLAUDE.md").is_symlink()
    assert guidance.BEGIN in (shared / "claude.md").read_text()
    assert stat.S_IMODE((shared / "claude.md").stat().st_mode) == 0o640
    assert stat.S_IMODE((root / ".mcp.json").stat().st_mode) == 0o600
    init.take_out(root, "claude")
    assert (root / "CLAUDE.md").is_symlink()
    assert snapshot(shared) == {"claude.md": b"# Shared\n"}


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="links are POSIX's")
def test_instructions_that_are_one_file_under_two_names_hold_one_block(tmp_path: Path) -> None:
    write_file(tmp_path / "AGENTS.md", "# Mine\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    init.set_up(tmp_path, "claude")
    init.set_up(tmp_path, "codex")
    assert (tmp_path / "AGENTS.md").read_text().count(guidance.BEGIN) == 1
    init.take_out(tmp_path, "claude")
    assert guidance.BEGIN in (tmp_path / "AGENTS.md").read_text()
    init.take_out(tmp_path, "codex")
    assert (tmp_path / "AGENTS.md").read_text() == "# Mine\n"


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="links are POSIX's")
def test_a_link_that_leads_nowhere_yet_gets_its_file_and_loses_it_again(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("notes.md")
    init.set_up(tmp_path, "claude")
    assert guidance.BEGIN in (tmp_path / "notes.md").read_text()
    init.take_out(tmp_path, "claude")
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert not (tmp_path / "notes.md").exists()


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="links are POSIX's")
def test_instructions_that_pi_finds_under_two_names_can_be_undone(tmp_path: Path) -> None:
    write_file(tmp_path / "AGENTS.md", "# Mine\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    before = snapshot(tmp_path)
    init.set_up(tmp_path, "pi")
    init.take_out(tmp_path, "pi")
    assert snapshot(tmp_path) == before
    assert (tmp_path / "CLAUDE.md").is_symlink()


@pytest.mark.usefixtures("started")
def test_a_name_in_other_letters_is_the_same_file_where_the_system_says_so(tmp_path: Path) -> None:
    init.set_up(tmp_path, "codex")
    init.set_up(tmp_path, "pi")
    if not (tmp_path / "AGENTS.MD").exists():
        (tmp_path / "AGENTS.MD").hardlink_to(tmp_path / "AGENTS.md")
    changed = [change.path for change in init.take_out(tmp_path, "pi").changes]
    assert changed == [".pi/mcp.json"]


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="links are POSIX's")
def test_a_directory_behind_a_link_stays_when_it_becomes_empty(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / ".cursor").symlink_to("shared")
    init.set_up(tmp_path, "cursor")
    init.take_out(tmp_path, "cursor")
    assert (tmp_path / "shared").is_dir()
    assert snapshot(tmp_path) == {}


@pytest.mark.usefixtures("started")
@pytest.mark.skipif(not POSIX, reason="pipes in directories are POSIX's")
@pytest.mark.parametrize("name", [".mcp.json", "CLAUDE.md"])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(Failure, match="cannot be read: it is no regular file"):
        init.set_up(tmp_path, "claude")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.usefixtures("started")
def test_inits_at_the_same_time_all_succeed(tmp_path: Path) -> None:
    names = [*AGENTS] * 4
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: init.set_up(tmp_path, name), names))
    made = snapshot(tmp_path)
    for name in AGENTS:
        init.set_up(tmp_path, name)
    assert snapshot(tmp_path) == made
    assert set(made) == {"CLAUDE.md", "AGENTS.md", *(each.config for each in AGENTS.values())}


@pytest.mark.usefixtures("started")
def test_an_init_that_holds_the_lock_for_ever_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "LOCK_SECONDS", 0.1)
    path = environments.cache_directory() / "init.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path, 1.0), pytest.raises(Failure, match=r"init\.lock' for 0\.1 s") as caught:
        init.set_up(tmp_path, "claude")
    assert caught.value.code == "init_locked"
    assert snapshot(tmp_path) == {}


@pytest.mark.usefixtures("started")
def test_an_init_without_a_place_for_its_lock_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "XDG_CACHE_HOME" if POSIX else "LOCALAPPDATA", str(write_file(tmp_path / "x", ""))
    )
    init.set_up(tmp_path, "claude")
    assert set(snapshot(tmp_path)) == {"x", "CLAUDE.md", ".mcp.json"}


@pytest.fixture
def changes(tmp_path: Path) -> Iterator[tuple[ProjectFiles, list[Change]]]:
    """Three changes: one file that is made, one that is edited, one that goes."""
    write_file(tmp_path / "edited", "before")
    write_file(tmp_path / "gone", "x")
    files = ProjectFiles(tmp_path)
    yield (
        files,
        [
            files.change("new/deep/made", "made"),
            files.change("edited", "after"),
            files.change("gone", None),
        ],
    )
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]


def test_all_changes_are_written(changes: tuple[ProjectFiles, list[Change]]) -> None:
    apply(changes[0].directory, changes[1])
    assert snapshot(changes[0].directory) == {"new/deep/made": b"made", "edited": b"after"}


@pytest.mark.parametrize("place", ["edited", "gone"])
def test_nothing_is_written_when_a_file_changed_meanwhile(
    changes: tuple[ProjectFiles, list[Change]], place: str
) -> None:
    files, wanted = changes
    write_file(files.directory / place, "theirs")
    before = snapshot(files.directory)
    with pytest.raises(Failure, match=f"{place} was changed by another program") as caught:
        apply(files.directory, wanted)
    assert caught.value.code == "file_changed"
    assert snapshot(files.directory) == before
    assert not (files.directory / "new").exists()


def test_a_disk_that_is_full_is_told_with_what_was_written(
    changes: tuple[ProjectFiles, list[Change]], monkeypatch: pytest.MonkeyPatch
) -> None:
    files, wanted = changes

    def full(target: Path, data: bytes, prefix: str) -> None:
        if target.name == "edited":
            raise OSError(28, "No space left on device")
        replace(target, data, prefix)

    monkeypatch.setattr(writing, "replace", full)
    with pytest.raises(Failure, match="edited cannot be written: No space left on device") as told:
        apply(files.directory, wanted)
    assert "Before that new/deep/made was written." in told.value.message
    assert snapshot(files.directory) == {
        "new/deep/made": b"made", "edited": b"before", "gone": b"x"
    }  # fmt: skip


# --- the line that starts the server ------------------------------------------------------------


def test_a_checkout_is_started_by_its_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    script = str(ROOT / "vera_ccc_tools" / "bootstrap.py")
    found = launch.find()
    assert found.args == (script,)
    assert found.command == "python3" or not POSIX
    without = launch.find(Environment({"PATH": ""}))
    assert Path(without.command).is_absolute()
    assert without.args == (script,)


def test_an_installation_is_started_by_its_command_or_else_by_its_own_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vera_ccc_tools.bootstrap.ROOT", tmp_path)
    monkeypatch.setattr("vera_ccc_tools.bootstrap.requirements", lambda _verb: ["psutil"])
    name = "vera-ccc" if POSIX else "vera-ccc.exe"
    write_file(tmp_path / "bin" / name, "#!/bin/sh\n").chmod(0o755)
    environ = {"PATH": str(tmp_path / "bin")}
    own = launch.Launch(sys.executable, (str(tmp_path / "vera_ccc_tools" / "bootstrap.py"),))
    assert launch.find(Environment(environ)) == launch.Launch("vera-ccc")
    assert launch.find(Environment({**environ, "VIRTUAL_ENV": "/x"})) == own
    assert launch.find(Environment({"PATH": ""})) == own
    monkeypatch.setattr("vera_ccc_tools.bootstrap.requirements", lambda _verb: ["not-there>=1"])
    assert launch.find(Environment(environ)) == own


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "vera-ccc", "args": ["mcp", "--dir", "."]}, True),
        ({"command": "C:\\bin\\vera-ccc.exe", "args": ["mcp"]}, True),
        ({"command": "py", "args": ["C:\\v\\vera_ccc_tools\\bootstrap.py", "mcp"]}, True),
        ({"command": "cce", "args": ["mcp", "--dir", "."]}, False),
        ({"command": "vera-ccc", "args": ["worker"]}, False),
        ({"command": "vera-ccc", "args": "mcp"}, False),
        ({"url": "http://127.0.0.1"}, False),
        ({"command": ["vera-ccc"], "args": ["mcp"]}, False),
        ({"command": "x", "args": [1, "mcp"]}, False),
    ],
)
def test_an_entry_of_ours_is_known_by_what_it_starts(
    entry: dict[str, object], *, ours: bool
) -> None:
    assert launch.is_ours(entry) is ours


def test_the_line_starts_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERA_CCC_PYTHON", sys.executable)
    write_file(tmp_path / "vera_ccc_tools.py", "raise SystemExit('planted')")
    launch.check(launch.find(), tmp_path)


def test_nothing_is_written_when_the_server_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERA_CCC_PYTHON", "python-that-is-not-there")
    with pytest.raises(
        Failure, match="The server does not start, so nothing was written"
    ) as caught:
        init.set_up(tmp_path, "claude")
    assert caught.value.code == "server_fails"
    assert "VERA_CCC_PYTHON names" in caught.value.message
    assert "mcp --help" in tell(caught.value, Front.MODEL)
    assert snapshot(tmp_path) == {}
