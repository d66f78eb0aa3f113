"""A log loses no entry: not to a crash, a full disk, or another writer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from filelock import FileLock
from hypothesis import given, settings

from helpers import POSIX, ROOT, SECONDS, let_go, run_git, write_file
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.memory import journal
from vera_ccc_tools.memory.journal import Entries, Journal

posix_only = pytest.mark.skipif(not POSIX, reason="the fault is forced by POSIX links or modes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".cce" / "log.jsonl"


def test_entries_come_back_in_order_one_a_line(path: Path) -> None:
    entries: list[dict[str, Any]] = [
        {"b": 1, "a": "é\n\u2028"},
        {"half": "\ud83d", "nul": "\0"},
        {},
    ]
    for entry in entries:
        Journal(path).append(entry)
    assert Journal(path).read() == Entries(tuple(entries), 0)
    data = path.read_bytes()
    assert data.startswith('{"b":1,"a":"é\\n\u2028"}\n{"half":"\\ud83d"'.encode())
    assert data.count(b"\n") == 3


def test_a_log_that_is_not_there_is_empty_and_reading_makes_nothing(path: Path) -> None:
    assert Journal(path).read() == Entries((), 0)
    assert not path.parent.exists()


def test_an_entry_is_one_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        written.append(data)
        return real(descriptor, data)

    write_file(path, b"torn")
    monkeypatch.setattr(os, "write", write)
    Journal(path).append({"x": 1})
    assert [data for data in written if b"x" in data] == [b'\n{"x":1}\n']


@given(st.integers(0, 60))
@settings(max_examples=61)
def test_an_entry_after_a_line_torn_anywhere_is_whole(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    path = tmp_path_factory.mktemp("torn") / "log.jsonl"
    before, torn = b'{"kept":1}\n', '{"text":"日本語 and é, torn somewhere in here"}\n'.encode()
    write_file(path, before + torn[:at])
    Journal(path).append({"next": "日本"})
    held = Journal(path).read()
    whole = [{"text": "日本語 and é, torn somewhere in here"}] if at >= len(torn) - 1 else []
    assert list(held.entries) == [{"kept": 1}, *whole, {"next": "日本"}]
    assert held.broken == (1 if 0 < at < len(torn) - 1 else 0)
    assert path.read_bytes().startswith(before + torn[:at])


@pytest.mark.parametrize(
    "line", [b"nonsense", b"[1]", b"1", b'"text"', b'{"a":', b'{"a":"\xff"}', b"[" * 9999, b"null"]
)
def test_a_broken_line_is_counted_and_the_others_are_read(path: Path, line: bytes) -> None:
    write_file(path, b'{"a":1}\n' + line + b'\n\n  \n{"b":2}\r\n')
    assert Journal(path).read() == Entries(({"a": 1}, {"b": 2}), 1)


WRITE = """
import os, sys
from pathlib import Path
from vera_ccc_tools.memory import journal
path, name, patience, dies = sys.argv[1:]
journal.PATIENCE = float(patience)
log = journal.Journal(Path(path))
print("ready", flush=True)
sys.stdin.readline()
for number in range(100):
    log.append({"from": name, "number": number, "text": "日本" * 500})
if dies == "dies":  # in the middle of a write, and of a character
    with log.exclusive():
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        os.write(descriptor, '{"text":"日'.encode()[:-1])
        os._exit(1)
"""


def write_at_once(path: Path, ends: list[str], patience: float = journal.PATIENCE) -> None:
    """Let processes append, each a hundred entries, all starting when all are ready."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(path), str(number), str(patience), end],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number, end in enumerate(ends)
    ]
    let_go(processes)
    for process, end in zip(processes, ends, strict=True):
        process.communicate(timeout=SECONDS)
        assert process.returncode == (end == "dies")


def assert_all_there(held: Entries, processes: int) -> None:
    for number in range(processes):
        mine = [entry["number"] for entry in held.entries if entry["from"] == str(number)]
        assert mine == list(range(100))


def test_processes_that_write_at_once_and_die_midway_lose_nothing(path: Path) -> None:
    write_at_once(path, ["lives", "lives", "dies", "dies"], patience=SECONDS)
    Journal(path).append({"from": "us"})
    held = Journal(path).read()
    assert_all_there(held, 4)
    assert len(held.entries) == 401
    # What two leave behind that die one after the other is one line.
    assert held.broken in {1, 2}


@posix_only  # elsewhere an append is a seek and a write
def test_processes_that_cannot_have_the_lock_lose_nothing_either(path: Path) -> None:
    path.parent.mkdir()
    with FileLock(path.with_name(".log.jsonl.lock")):
        write_at_once(path, ["lives"] * 3, patience=0.0)
    held = Journal(path).read()
    assert_all_there(held, 3)
    assert held.broken == 0


def test_threads_that_write_at_once_lose_nothing(path: Path) -> None:
    log = Journal(path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(log.append, [{"number": number} for number in range(200)]))
    held = log.read()
    assert sorted(entry["number"] for entry in held.entries) == list(range(200))
    assert held.broken == 0


def test_a_writer_that_never_ends_holds_nobody_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "PATIENCE", 0.05)
    path.parent.mkdir()
    # Another thread appends, whom the lock keeps out.
    with FileLock(path.with_name(".log.jsonl.lock")), ThreadPoolExecutor(1) as pool:
        pool.submit(Journal(path).append, {"x": 1}).result(SECONDS)
    assert Journal(path).read().entries == ({"x": 1},)


def test_git_sees_nothing_of_a_log(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    write_file(tmp_path / ".cce" / "workspace.yml", "")
    Journal(tmp_path / ".cce" / "log.jsonl").append({})
    told = run_git(tmp_path, "status", "--porcelain", "--untracked-files=all")
    assert told == "?? .cce/workspace.yml\n"


def test_an_ignore_file_of_the_users_own_stays(path: Path) -> None:
    write_file(path.parent / ".gitignore", "mine\n")
    Journal(path).append({})
    assert (path.parent / ".gitignore").read_text(encoding="utf-8") == "mine\n"


@posix_only
def test_a_link_in_the_place_of_the_lock_harms_nothing(tmp_path: Path, path: Path) -> None:
    outside = write_file(tmp_path / "outside.txt", "theirs\n")
    path.parent.mkdir()
    path.with_name(f".{path.name}.lock").symlink_to(outside)
    with pytest.raises(Failure) as caught:
        Journal(path).append({})
    assert caught.value.code == "cannot_write"
    assert outside.read_text(encoding="utf-8") == "theirs\n"


@posix_only
@pytest.mark.parametrize("linked", [".cce", ".cce/log.jsonl"])
def test_a_link_is_not_followed(tmp_path: Path, path: Path, linked: str) -> None:
    outside = write_file(tmp_path / "outside" / "log.jsonl", '{"not":"ours"}\n')
    if linked == ".cce":
        path.parent.symlink_to(outside.parent)
    else:
        path.parent.mkdir()
        path.symlink_to(outside)
    for use in (lambda: Journal(path).append({}), lambda: Journal(path).read()):
        with pytest.raises(Failure, match="is a symbolic link") as caught:
            use()
        assert caught.value.code == "not_a_log"
        assert f"'{tmp_path / linked}'" in caught.value.message
    assert outside.read_text(encoding="utf-8") == '{"not":"ours"}\n'


@posix_only
def test_a_pipe_in_the_logs_place_holds_nobody_up(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    for use in (lambda: Journal(path).append({}), lambda: Journal(path).read()):
        with pytest.raises(Failure, match="is no regular file"):
            use()


REFUSED = """
import ctypes, json, os, resource, signal, sys
from pathlib import Path
from vera_ccc_tools.memory.journal import Journal
from vera_ccc_tools.errors import Failure
# Modes hold for root too, once it may not override them: CAP_DAC_OVERRIDE and _READ_SEARCH.
if sys.platform == "linux" and os.geteuid() == 0:
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
path = Path(sys.argv[1])
if sys.argv[2] == "full":
    size = path.stat().st_size + 10
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
for use in (lambda: Journal(path).append({"text": "x" * 50}), lambda: Journal(path).read()):
    try:
        use()
        print("done")
    except Failure as failure:
        print(failure.code, failure.message)
"""
RESTART = """
import ctypes, os, sys
if sys.platform == "linux" and os.geteuid() == 0:
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""


def refused(path: Path, how: str) -> list[str]:
    """What an unprivileged user is told who appends and then reads."""
    done = subprocess.run(
        [sys.executable, "-c", RESTART, REFUSED, str(path), how],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    return done.stdout.decode().splitlines()


@posix_only
def test_a_full_disk_is_told_and_what_was_there_stays(path: Path) -> None:
    Journal(path).append({"kept": 1})
    said = refused(path, "full")
    assert said == [
        f"cannot_write '{path}' cannot be written: only 10 of 62 bytes went in.",
        "done",
    ]
    Journal(path).append({"next": 2})
    assert Journal(path).read() == Entries(({"kept": 1}, {"next": 2}), 1)


@posix_only
@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (0o555, ["cannot_write '{}' cannot be written: Permission denied.", "done"]),
        (0o000, ["cannot_{0} '{{}}' cannot be {1}: Permission denied."] * 2),
    ],
)
def test_a_directory_without_rights_is_told(path: Path, mode: int, told: list[str]) -> None:
    write_file(path, "{}\n")
    path.chmod(0o444)
    path.parent.chmod(mode)
    try:
        said = refused(path, "modes")
    finally:
        path.parent.chmod(0o755)
    words = [("write", "written"), ("read", "read")]
    assert said == [
        line.format(*word).format(path) if mode == 0 else line.format(path)
        for line, word in zip(told, words, strict=True)
    ]
    assert json.loads(path.read_bytes()) == {}


@pytest.mark.parametrize(
    ("last", "expected"), [(0, []), (7, []), (8, [2]), (15, [2]), (16, [1, 2]), (99, [1, 2])]
)
def test_of_the_end_of_a_log_whole_lines_are_read(
    tmp_path: Path, last: int, expected: list[int]
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}\n')
    held = Journal(path).read(last)
    assert ([entry["n"] for entry in held.entries], held.broken) == (expected, 0)
