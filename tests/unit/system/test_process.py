"""The one door to executables: bytes out, a deadline, a cancel, and the whole tree ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from core_helpers import alive, pid_in, until
from helpers import POSIX
from process_helpers import SLEEPER, needs_sessions, python, starting
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system import process
from vera_ccc_tools.system.process import Command, run
from vera_ccc_tools.system.tasks import Cancel, Cancelled


@pytest.fixture
def doomed() -> Iterator[list[int]]:
    """Ids of processes that a test leaves running on purpose; they are ended after it."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        psutil.Process(pid).kill()


def test_both_streams_and_the_exit_code_come_back_as_bytes() -> None:
    done = run(
        python(r"""
            import os, sys
            os.write(1, b"out\xff\r\n")
            os.write(2, b"err\0")
            sys.exit(3)
        """),
        deadline=20,
    )
    assert (done.ended, done.returncode) == ("exit", 3)
    assert (done.stdout.head, done.stderr.head) == (b"out\xff\r\n", b"err\0")
    assert done.stdout.whole
    assert done.stdout.tail == b""


def test_standard_input_is_closed() -> None:
    done = run(python("import sys; print(repr(sys.stdin.read()))"), deadline=20)
    assert done.stdout.head.strip() == b"''"


def test_standard_input_holds_what_is_given_however_much_and_whether_or_not_it_is_read() -> None:
    given = bytes(range(256)) * 4096
    code = "import sys; data = sys.stdin.buffer.read(); print(len(data), data[:3], data[-1])"
    done = run(python(code, given=given), deadline=20)
    assert done.stdout.head.split() == b"1048576 b'\\x00\\x01\\x02' 255".split()
    assert run(python("", given=given), deadline=20).returncode == 0


def test_arguments_arrive_as_they_are_since_there_is_no_shell() -> None:
    given = ["$(id)", "a b", "; true", "*", "", "日本", "line\nline", '"', "-x"]
    done = run(python("import sys; print(ascii(sys.argv[1:]))", *given), deadline=20)
    assert done.stdout.head.decode().strip() == ascii(given)


def test_directory_and_environment_are_the_given_ones(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd()); print(os.environ.get('ONLY'), 'HOME' in os.environ)"
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    command = Command((sys.executable, "-c", code), tmp_path, {**kept, "ONLY": "this"})
    lines = run(command, deadline=20).stdout.head.decode().splitlines()
    assert lines == [str(tmp_path), "this False"]


def test_a_deadline_ends_the_child_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = f"import os; open({str(path)!r}, 'w').write(f'{{os.getpid()}}\\n');{SLEEPER}"
    started = time.monotonic()
    done = run(python(code), deadline=1.0)
    assert done.ended == "deadline"
    assert 1.0 <= time.monotonic() - started < 2.0
    until(lambda: not alive(pid_in(path)), 1.0)


def test_what_was_printed_before_the_deadline_is_kept() -> None:
    done = run(python(f"print('so far', flush=True);{SLEEPER}"), deadline=1.0)
    assert done.stdout.head.strip() == b"so far"


def test_no_deadline_and_one_beyond_what_a_clock_can_tell_both_wait_for_the_end() -> None:
    for deadline in (None, 1e300):
        assert run(python("print(1)"), deadline=deadline).ended == "exit"


def test_a_deadline_that_is_over_ends_the_child_at_once() -> None:
    assert run(python(SLEEPER), deadline=0.0).ended == "deadline"


def test_a_deadline_ends_the_descendants_too(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = starting(path, own_session=False, then="threading.Event().wait(600)")
    assert run(python(code), deadline=1.0).ended == "deadline"
    until(lambda: not alive(pid_in(path)), 1.0)


def test_a_spared_descendant_lives_on(tmp_path: Path, doomed: list[int]) -> None:
    """By its word on Windows, by its session elsewhere: ccc's daemon has both."""
    path = tmp_path / "pid"
    code = starting(path, own_session=True, name="spare me", then="threading.Event().wait(600)")
    assert run(python(code, spared="spare me"), deadline=1.0).ended == "deadline"
    doomed.append(pid_in(path))
    assert alive(doomed[0])


@pytest.mark.parametrize(("name", "lives"), [("spare me", True), ("other", False)])
def test_the_tree_below_a_process_is_walked_where_there_are_no_groups(
    tmp_path: Path, doomed: list[int], name: str, *, lives: bool
) -> None:
    path = tmp_path / "pid"
    code = starting(path, own_session=True, name=name, then="threading.Event().wait(600)")
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as child:
        pid = pid_in(path)
        process._end_tree(child.pid, "spare me")
        child.wait(10)
    if lives:
        doomed.append(pid)
        assert alive(pid)
    else:
        until(lambda: not alive(pid), 1.0)


@needs_sessions
def test_a_descendant_that_keeps_the_pipe_open_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    started = time.monotonic()
    done = run(python(starting(path, own_session=False, then="print('mine')")), deadline=20)
    assert time.monotonic() - started < 2.0
    assert (done.ended, done.returncode, done.stdout.head) == ("exit", 0, b"mine\n")
    until(lambda: not alive(pid_in(path)), 1.0)


@needs_sessions
def test_neither_is_one_that_has_left_the_group(tmp_path: Path, doomed: list[int]) -> None:
    path = tmp_path / "pid"
    started = time.monotonic()
    done = run(python(starting(path, own_session=True, then="print('mine')")), deadline=20)
    doomed.append(pid_in(path))
    assert time.monotonic() - started < 2.0
    assert done.stdout.head == b"mine\n"


def test_a_cancel_from_another_thread_ends_the_child_within_a_second(tmp_path: Path) -> None:
    path, cancel = tmp_path / "pid", Cancel()
    code = f"import os; open({str(path)!r}, 'w').write(f'{{os.getpid()}}\\n');{SLEEPER}"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, python(code), deadline=60, cancel=cancel)
        pid = pid_in(path)
        started = time.monotonic()
        cancel.press()
        assert running.result(timeout=5).ended == "cancel"
    assert time.monotonic() - started < 1.0
    until(lambda: not alive(pid), 1.0)


def test_nothing_starts_under_a_pressed_button(tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.press()
    cancel.press()
    with pytest.raises(Cancelled):
        run(python(f"open({str(tmp_path / 'ran')!r}, 'w')"), deadline=20, cancel=cancel)
    assert not (tmp_path / "ran").exists()


def test_a_button_tells_whoever_comes_after_it_was_pressed() -> None:
    told: list[int] = []
    cancel = Cancel()
    with cancel.notifying(lambda: told.append(1)):
        cancel.press()
    with cancel.notifying(lambda: told.append(2)):
        pass
    assert told == [1, 2]
    assert cancel.wait(0)


FLOOD = """
    import os, resource, sys, tempfile
    from pathlib import Path
    from vera_ccc_tools.system import pipes as streams, process
    child = "import os\\nfor _ in range(200): os.write(%d, b'x' * (1 << 20))\\nos.write(%d, b'end')"
    argv = (sys.executable, "-c", child.replace("%d", sys.argv[1]))
    command = process.Command(argv, Path("/"), dict(os.environ))
    done = process.run(command, deadline=60)
    told = done.stdout if sys.argv[1] == "1" else done.stderr
    assert told.total == 200 * (1 << 20) + 3, told.total
    assert len(told.head) == streams.HEAD_LIMIT
    assert told.tail.endswith(b"xend") and len(told.tail) == streams.TAIL_LIMIT
    try:  # getrusage tells of the parent's memory too, from before this program was loaded
        lines = Path("/proc/self/status").read_text().splitlines()
        print(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
    except OSError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@needs_sessions
@pytest.mark.parametrize("descriptor", ["1", "2"])
def test_200_mb_on_a_stream_cost_bounded_memory(descriptor: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FLOOD), descriptor],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    kilobytes = int(done.stdout)
    assert kilobytes < 100 * 1024


def test_a_long_output_keeps_its_head_and_its_tail() -> None:
    code = "import os; os.write(1, bytes(range(256)) * 2000)"
    out = run(python(code, head_limit=1000), deadline=20).stdout
    assert (out.total, out.whole) == (512_000, False)
    assert out.head == (bytes(range(256)) * 4)[:1000]
    assert out.tail == bytes(range(256)) * 256


def test_what_cannot_be_run_is_named_with_the_reason(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    env = dict(os.environ)
    for command in (
        Command((str(tmp_path / "missing"),), tmp_path, env),
        Command((str(plain),), tmp_path, env),
        Command((sys.executable, "-c", ""), tmp_path / "nowhere", env),
        Command((sys.executable, "a\0b"), tmp_path, env),
        Command((sys.executable, "x" * 3_000_000), tmp_path, env),
    ):
        with pytest.raises(Failure) as caught:
            run(command, deadline=20)
        assert caught.value.code == "cannot_run"
        assert str(tmp_path) in str(caught.value)
        assert len(str(caught.value)) < 400


def test_twenty_at_once_each_get_their_own_output() -> None:
    def number(each: int) -> bytes:
        return run(python(f"print({each})"), deadline=60).stdout.head.strip()

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(number, range(20))) == [str(each).encode() for each in range(20)]


def test_500_calls_leave_no_descriptor_thread_or_process(tmp_path: Path) -> None:
    true = shutil.which("true")
    argv = (true,) if true else (sys.executable, "-S", "-c", "")
    command = Command(argv, tmp_path, dict(os.environ))
    run(command, deadline=20)
    this = psutil.Process()
    count = getattr(this, "num_fds" if POSIX else "num_handles")
    before = count(), threading.active_count(), len(this.children())
    for _ in range(500 if true else 50):
        assert run(command, deadline=20).returncode == 0
    # A waiter that has said its last word may still be a thread for an instant.
    until(lambda: (count(), threading.active_count(), len(this.children())) <= before)
