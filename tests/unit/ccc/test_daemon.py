"""ccc's daemon, as its files show it."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from core_helpers import daemon_of, until
from helpers import POSIX, write_file
from vera_ccc_tools.system.tasks import Cancel, Cancelled

needs_sockets = pytest.mark.skipif(not POSIX, reason="Windows has named pipes instead")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "c").mkdir()
    return {"COCOINDEX_CODE_DIR": str(tmp_path / "c")}


@pytest.fixture
def user(short_directory: Path) -> dict[str, str]:
    """An environment whose directory has a path that a socket can have."""
    return {"COCOINDEX_CODE_DIR": tempfile.mkdtemp(dir=short_directory)}


def directory(environ: dict[str, str]) -> Path:
    return Path(environ["COCOINDEX_CODE_DIR"])


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(1)
        yield server


@needs_sockets
def test_a_daemon_is_up_while_it_listens(user: dict[str, str]) -> None:
    assert not daemon_of(user).is_up
    write_file(directory(user) / "daemon.pid", f"{os.getpid()}\n")
    assert not daemon_of(user).is_up
    with listening(directory(user) / "daemon.sock"):
        for _ in range(10):  # the first ones fill the queue of a daemon that takes none
            assert daemon_of(user).is_up


@needs_sockets
def test_the_files_that_a_killed_daemon_leaves_mean_no_daemon(user: dict[str, str]) -> None:
    write_file(directory(user) / "daemon.pid", f"{os.getpid()}\n")
    with listening(directory(user) / "daemon.sock"):
        pass
    assert (directory(user) / "daemon.sock").exists()
    assert not daemon_of(user).is_up


@pytest.mark.parametrize("written", ["", "x", "-1", "99999999999999999999", "\ud7ff", "1 2"])
def test_a_pid_file_with_anything_else_means_no_daemon(
    environ: dict[str, str], written: str
) -> None:
    write_file(directory(environ) / "daemon.pid", written)
    assert daemon_of(environ).process_id is None
    assert not daemon_of(environ).is_up


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (b"", ""),
        (b"one\ntwo\n\n  \n", "two"),
        (b"one\xff\n", "one\ufffd"),
        (b"x" * 300_000 + b"\nlast", "last"),
        ("a\u2028b\n".encode(), "a\u2028b"),
    ],
)
def test_the_last_words_are_the_last_line_of_the_log(
    environ: dict[str, str], log: bytes, words: str
) -> None:
    assert daemon_of(environ).last_words == ""
    write_file(directory(environ) / "daemon.log", log)
    assert daemon_of(environ).last_words == words


@needs_sockets
@pytest.mark.parametrize("changed", ["settings", "ccc"])
def test_a_daemon_from_before_a_change_is_not_ready(
    user: dict[str, str], tmp_path: Path, changed: str
) -> None:
    ccc = write_file(tmp_path / "bin" / "ccc", "")
    settings = write_file(directory(user) / "global_settings.yml", "")
    pid_file = write_file(directory(user) / "daemon.pid", "1")
    for path, seconds in ((ccc, 1000), (settings, 1000), (pid_file, 2000)):
        os.utime(path, (seconds, seconds))
    assert not daemon_of(user).is_ready(ccc)
    with listening(directory(user) / "daemon.sock"):
        assert daemon_of(user).is_ready(ccc)
        os.utime({"settings": settings, "ccc": ccc}[changed], (3000, 3000))
        assert not daemon_of(user).is_ready(ccc)


def test_only_one_at_a_time_starts_a_daemon(environ: dict[str, str]) -> None:
    inside, most = [0], [0]
    lock = threading.Lock()

    def start(_number: int) -> None:
        with daemon_of(environ).starting(Cancel()):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            with lock:
                inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(start, range(16)))
    assert most == [1]


def test_a_wait_for_another_s_start_ends_with_a_cancel(environ: dict[str, str]) -> None:
    cancel = Cancel()

    def wait() -> None:
        with daemon_of(environ).starting(cancel):
            pytest.fail("two at a time")

    with daemon_of(environ).starting(Cancel()), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        until(waiting.running)
        cancel.press()
        failure = waiting.exception(timeout=5)
    assert isinstance(failure, Cancelled)
    with daemon_of(environ).starting(Cancel()):
        pass


def test_a_directory_that_is_missing_is_left_to_ccc(tmp_path: Path) -> None:
    with daemon_of({"COCOINDEX_CODE_DIR": str(tmp_path / "missing")}).starting(Cancel()):
        assert not (tmp_path / "missing").exists()
