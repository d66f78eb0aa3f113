"""Locks between processes: one holder, a bounded wait, a cancel that is heard."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest

from vera_ccc_tools.system.locks import held, turn
from vera_ccc_tools.system.tasks import Cancel, Cancelled

HOLDER = """
import sys
from pathlib import Path
from vera_ccc_tools.system.locks import held, turn
with held(Path(sys.argv[1]), None):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_of_another_process_is_waited_for_within_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline().strip() == b"held"
        with held(path, 0.1) as mine:
            assert not mine
        other.stdin.close()
        with held(path, 60) as mine:
            assert mine


def test_a_second_holder_in_the_same_process_has_to_wait_too(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, 0) as first, held(path, 0) as second:
        assert (first, second) == (True, False)
    with held(path, 0) as again:
        assert again


def test_a_wait_without_a_bound_ends_with_the_call(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    cancel = Cancel()
    with held(path, 0):
        threading.Timer(0.1, cancel.press).start()
        with pytest.raises(Cancelled), held(path, None, cancel):
            pass


@pytest.mark.parametrize("error", [NotImplementedError(), OSError(errno.EROFS, "read-only")])
def test_where_no_lock_can_be_had_the_block_runs_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with held(tmp_path / "lock", 0) as mine:
        assert mine


def test_a_turn_within_the_process_is_given_up_with_the_call() -> None:
    lock, cancel = threading.Lock(), Cancel()
    with turn(lock, cancel):
        threading.Timer(0.1, cancel.press).start()
        with pytest.raises(Cancelled), turn(lock, cancel):
            pass
    assert not lock.locked()
