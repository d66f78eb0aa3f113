"""Nothing that goes wrong loses an entry, takes one of the user's, or leaves half a file."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from conftest import MakeExecutable
from helpers import ROOT
from sync_world import git, settings_of, write
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.gitignore_sync import Syncer, sync
from vera_ccc_tools.sync import project as sync_project
from vera_ccc_tools.sync import sidecar
from vera_ccc_tools.sync.settings import DEFAULT_EXCLUDES, read
from vera_ccc_tools.system import files
from vera_ccc_tools.system.locks import held
from vera_ccc_tools.system.tasks import Cancel, Cancelled

TEXT = "# mine\nexclude_patterns:\n  - 'a'  # kept\n"
KILLED = ROOT / "tests" / "sync_killed.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose rules ignore one directory and one file."""
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q")
    write(made, {"out/a.py": "", "gen.py": "", "b.py": "", ".gitignore": "out/\ngen.py\n"})
    settings_of(made, TEXT)
    return made


def settings(root: Path) -> Path:
    return root / ".cocoindex_code/settings.yml"


def state(root: Path) -> Path:
    return root / ".cocoindex_code" / sidecar.NAME


def excludes(root: Path) -> tuple[str, ...]:
    return read(settings(root).read_text(encoding="utf-8")).excludes


def left_over(root: Path) -> list[str]:
    known = {"settings.yml", sidecar.NAME, sidecar.LOCK}
    return [path.name for path in settings(root).parent.iterdir() if path.name not in known]


# --- git that fails ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("fatal: detected dubious ownership in repository at '/r'", "safe.directory /r"),
        ("fatal: Unable to create '/r/.git/index.lock': File exists.", "index.lock"),
        ("error: bad signature\nfatal: index file corrupt", "bad signature"),
        ("", "exit status 128"),
    ],
)
def test_git_that_fails_is_told_in_one_line_and_changes_nothing(
    root: Path,
    fake_executable: MakeExecutable,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    told: str,
) -> None:
    sync(root)
    before = settings(root).read_bytes(), state(root).read_bytes()
    fake = fake_executable("git", f"import sys\nsys.stderr.write({body!r})\nsys.exit(128)\n")
    monkeypatch.setenv("PATH", str(fake.parent), prepend=os.pathsep)
    report = sync(root)
    assert (settings(root).read_bytes(), state(root).read_bytes()) == before
    assert (report.changed, report.kept) == (False, 2)
    assert told in report.warnings[0]
    assert "stay as they are" in report.warnings[0]
    assert "\n" not in report.warnings[0]


def test_an_index_that_is_corrupt_is_not_an_empty_one(root: Path) -> None:
    git(root, "add", "b.py")
    sync(root)
    (root / ".git/index").write_bytes(b"DIRC nonsense that no git has written")
    report = sync(root)
    assert report.warnings
    assert excludes(root)[1:] == ("**/out/**", "**/gen.py")


def test_a_repository_that_is_damaged_is_not_a_missing_one(root: Path) -> None:
    sync(root)
    (root / ".git/HEAD").unlink()
    assert "does not accept" in sync(root).warnings[0]
    assert excludes(root)[1:] == ("**/out/**", "**/gen.py")


def test_a_nested_repository_that_fails_keeps_its_entries_and_the_rest_goes_on(root: Path) -> None:
    for name in ("in", "in[2]"):
        write(root / name, {"x.py": "", "y.py": "", ".gitignore": "x.py\n"})
        git(root / name, "init", "-q")
    sync(root)
    assert {"**/in/x.py", "**/in[[]2[]]/x.py"} < set(excludes(root))
    write(root, {".gitignore": "gen.py\n"})
    git(root / "in[2]", "add", "y.py")
    (root / "in[2]/.git/index").write_bytes(b"DIRC nonsense that no git has written")
    report = sync(root)
    assert "in[2]" in report.warnings[0]
    assert set(excludes(root)) == {"a", "**/gen.py", "**/in/x.py", "**/in[[]2[]]/x.py"}


def test_a_stray_git_dir_does_not_answer_for_another_repository(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    report = sync(root)
    assert (report.warnings, len(report.added)) == ((), 2)


# --- files that cannot be trusted or written --------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": "1", "entries": []}',
        '{"version": true, "entries": []}',
        '{"version": 0}',
        '{"version": 1}',
        '{"version": 1, "entries": [1], "origin": {"was": "list", "written": "", "original": ""}}',
        '{"version": 1, "entries": [], "origin": {"was": "?", "written": "", "original": ""}}',
        '{"version": 2, "entries": []}',
        '{"version": 2, "entries": [1], "origin": {"written": "", "original": ""}}',
        '{"version": 2, "entries": [], "origin": {"written": 1, "original": ""}}',
    ],
)
def test_a_state_file_that_is_broken_is_refused_untouched(root: Path, content: str) -> None:
    state(root).write_text(content)
    with pytest.raises(Failure) as caught:
        sync(root)
    assert caught.value.code == "sidecar_broken"
    assert settings(root).read_text() == TEXT
    assert state(root).read_text() == content


def test_a_state_file_of_a_later_version_is_refused_untouched(root: Path) -> None:
    state(root).write_text('{"version": 3}')
    with pytest.raises(Failure, match="perhaps written by a later version") as caught:
        sync(root)
    assert caught.value.code == "sidecar_newer"
    assert settings(root).read_text() == TEXT


def test_a_state_file_that_claims_ccc_s_defaults_cannot_take_them_out(root: Path) -> None:
    listed = "".join(f"  - '{pattern}'\n" for pattern in DEFAULT_EXCLUDES)
    settings(root).write_text(f"exclude_patterns:\n{listed}")
    origin = {"was": "absent", "written": f"exclude_patterns:\n{listed}", "original": ""}
    claims = {"version": 1, "entries": list(DEFAULT_EXCLUDES), "origin": origin}
    state(root).write_text(json.dumps(claims))
    sync(root)
    assert excludes(root) == (*DEFAULT_EXCLUDES, "**/out/**", "**/gen.py")
    (root / ".gitignore").write_text("")
    sync(root)
    assert settings(root).read_text() == f"exclude_patterns:\n{listed}"


FIRST_VERSION = {
    "a list": (
        ("list", "", ""),
        "exclude_patterns:\n  - a{}\n",
        "exclude_patterns:\n  - a\n",
    ),
    "null": (
        ("null", "[]", "null"),
        'exclude_patterns: [\n    "**/out/**",\n    "**/old/**"]\n',
        "exclude_patterns: null\n",
    ),
    "no value": (
        ("null", " []", ""),
        'exclude_patterns: [\n    "**/out/**",\n    "**/old/**"]\n',
        "exclude_patterns:\n",
    ),
    "an empty list": (
        ("empty", "", ""),
        'exclude_patterns: [\n    "**/out/**",\n    "**/old/**"]\n',
        "exclude_patterns: []\n",
    ),
    "no key": (
        ("absent", "exclude_patterns:\n  - x\n", ""),
        "a: 1\nexclude_patterns:\n  - x{}\n",
        "a: 1\n",
    ),
}


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize(("origin", "text", "after"), FIRST_VERSION.values(), ids=FIRST_VERSION)
def test_a_state_file_of_the_first_version_is_read(
    root: Path, origin: tuple[str, str, str], text: str, after: str, *, pending: bool
) -> None:
    settings(root).write_text(text.format('\n  - "**/out/**"\n  - "**/old/**"'))
    claim = {
        "entries": ["**/out/**", "**/old/**"],
        "origin": dict(zip(("was", "written", "original"), origin, strict=True)),
    }
    raw: dict[str, object] = {"version": 1, **claim}
    if pending:
        nothing = {"entries": [], "origin": {"was": "list", "written": "", "original": ""}}
        waiting = {**claim, "before": "0", "temporary": ".vera-gitignore-sync-x.tmp"}
        raw = {"version": 1, **nothing, "pending": waiting}
    state(root).write_text(json.dumps(raw))
    report = sync(root)
    assert (report.added, report.removed) == (("**/gen.py",), ("**/old/**",))
    assert json.loads(state(root).read_text())["entries"] == ["**/out/**", "**/gen.py"]
    (root / ".gitignore").write_text("")
    sync(root)
    assert settings(root).read_text() == after


def test_entries_that_the_user_took_out_come_back_and_stay_ours(root: Path) -> None:
    sync(root)
    settings(root).write_text(TEXT)
    assert len(sync(root).added) == 2
    (root / ".gitignore").write_text("")
    sync(root)
    assert settings(root).read_text() == TEXT
    assert not state(root).exists()


@pytest.mark.parametrize("broken", ["exclude_patterns: [", "exclude_patterns: 1\n", "a: *b\n"])
def test_settings_that_cannot_be_edited_stay_as_they_are(root: Path, broken: str) -> None:
    settings(root).write_text(broken)
    with pytest.raises(Failure):
        sync(root)
    assert settings(root).read_text() == broken
    assert not state(root).exists()


def test_a_project_without_settings_is_a_failure_with_the_next_step(root: Path) -> None:
    settings(root).unlink()
    with pytest.raises(Failure) as caught:
        sync(root)
    assert caught.value.code == "no_settings"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", ["mkstemp", "fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_settings_as_they_were(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int, step: str
) -> None:
    def refuse(*_arguments: object, **_named: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    where = {"mkstemp": tempfile, "fsync": os, "replace": Path}[step]
    with monkeypatch.context() as patched:
        patched.setattr(where, step, refuse)
        with pytest.raises(Failure) as caught:
            sync(root)
    assert caught.value.code == "cannot_write"
    assert os.strerror(code) in caught.value.message
    assert settings(root).read_text() == TEXT
    assert left_over(root) == []
    assert len(sync(root).added) == 2


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX")
def test_the_mode_and_a_link_survive(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "real.yml"
    settings(root).rename(target)
    target.chmod(0o640)
    settings(root).symlink_to(target)
    sync(root)
    assert settings(root).is_symlink()
    assert "**/out/**" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert left_over(root) == []
    assert [path.name for path in tmp_path.iterdir() if "vera" in path.name] == []


def test_settings_that_change_during_the_write_are_not_overwritten(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = files.replace

    def meanwhile(path: Path, data: bytes, prefix: str) -> None:
        replace(path, data, prefix)
        settings(root).write_text(TEXT + "  - b\n")

    with monkeypatch.context() as patched:
        patched.setattr(files, "replace", meanwhile)
        with pytest.raises(Failure) as caught:
            sync(root)
    assert caught.value.code == "settings_changed"
    assert excludes(root) == ("a", "b")
    sync(root)
    assert excludes(root) == ("a", "b", "**/out/**", "**/gen.py")


# --- kills ------------------------------------------------------------------------------------


def _first_sync(_root: Path) -> None:
    pass


def _second_sync(root: Path) -> None:
    sync(root)
    write(root, {"more/c.py": "", ".gitignore": "out/\nmore/\n"})


def _last_sync(root: Path) -> None:
    sync(root)
    write(root, {".gitignore": ""})


@pytest.mark.parametrize("prepare", [_first_sync, _second_sync, _last_sync])
def test_after_a_kill_at_any_write_the_next_sync_puts_all_right(
    root: Path, tmp_path: Path, prepare: Callable[[Path], None]
) -> None:
    prepare(root)
    kills = 0
    returncode = 9
    while returncode == 9:
        kills += 1
        killed = tmp_path / f"kill{kills}"
        shutil.copytree(root, killed)
        command = [sys.executable, str(KILLED), str(killed), str(kills)]
        returncode = subprocess.run(command, check=False).returncode
        _hold_after(killed)
    assert returncode == 0
    assert kills > 5


def _hold_after(root: Path) -> None:
    sync(root)
    assert left_over(root) == []
    rules = (root / ".gitignore").read_text()
    wanted = {"a"}
    wanted |= {"**/out/**"} if "out/" in rules else set()
    wanted |= {"**/gen.py"} if "gen.py" in rules else set()
    wanted |= {"**/more/**"} if "more/" in rules else set()
    assert sorted(excludes(root)) == sorted(wanted)
    write(root, {".gitignore": ""})
    sync(root)
    assert settings(root).read_text() == TEXT
    assert not state(root).exists()


# --- others at the same time ------------------------------------------------------------------


def test_six_processes_at_once_end_in_the_same_file_as_one(root: Path, tmp_path: Path) -> None:
    write(root, {f"d{n}/gen.py": "" for n in range(50)})
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    command = [sys.executable, str(KILLED), str(root), "0"]
    running = [subprocess.Popen(command) for _ in range(6)]
    assert [one.wait(60) for one in running] == [0] * 6
    sync(copy)
    assert settings(root).read_bytes() == settings(copy).read_bytes()
    assert state(root).read_bytes() == state(copy).read_bytes()
    assert left_over(root) == []


def test_a_lock_that_stays_held_is_told_after_a_bounded_wait(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_project, "LOCK_DEADLINE", 0.1)
    lock = root / ".cocoindex_code" / sidecar.LOCK
    with held(lock, 0), pytest.raises(Failure) as caught:
        Syncer().sync(root)
    assert caught.value.code == "sync_locked"
    assert settings(root).read_text() == TEXT


def test_a_call_that_is_cancelled_changes_nothing(root: Path) -> None:
    cancel = Cancel()
    cancel.press()
    with pytest.raises(Cancelled):
        sync(root, cancel=cancel)
    assert settings(root).read_text() == TEXT
