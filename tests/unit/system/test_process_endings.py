"""Nothing is left behind when a process is killed or interrupted, and nobody else is harmed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import psutil
import pytest

from core_helpers import alive, pid_in, until
from helpers import POSIX
from process_helpers import SLEEPER, needs_sessions, python, starting
from vera_ccc_tools.system import pipes as streams
from vera_ccc_tools.system import process
from vera_ccc_tools.system.process import Command, run

VICTIM = """
    import os, sys
    from pathlib import Path
    from vera_ccc_tools.system import process
    code = "import os, sys, threading\\n" \\
           "open(sys.argv[1], 'w').write(f'{os.getpid()}\\\\n')\\nthreading.Event().wait(600)"
    command = process.Command((sys.executable, "-c", code, sys.argv[1]), Path("/"), os.environ)
    if len(sys.argv) > 2:
        process.run(process.Command(("/bin/true",), Path("/"), os.environ), deadline=20)
        os.kill(process._reaper._popen.pid, 9)
        process._reaper._popen.wait()
    process.run(command, deadline=None)
"""


def _victim(path: Path, *more: str) -> tuple[subprocess.Popen[bytes], int]:
    code = textwrap.dedent(VICTIM)
    victim = subprocess.Popen(
        [sys.executable, "-c", code, str(path), *more], stderr=subprocess.DEVNULL
    )
    return victim, pid_in(path)


@needs_sessions
@pytest.mark.parametrize("more", [(), ("after its first reaper was killed",)])
def test_a_process_that_is_killed_takes_its_children_with_it(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    victim, child = _victim(tmp_path / "pid", *more)
    helpers = psutil.Process(victim.pid).children()
    victim.kill()
    victim.wait(10)
    until(lambda: not alive(child), 2.0)
    until(lambda: not any(alive(helper.pid) for helper in helpers), 2.0)


@needs_sessions
def test_an_interrupt_ends_the_child(tmp_path: Path) -> None:
    victim, child = _victim(tmp_path / "pid")
    victim.send_signal(signal.SIGINT)
    assert victim.wait(10) == -signal.SIGINT
    until(lambda: not alive(child), 2.0)


@needs_sessions
def test_an_interrupt_ends_the_descendants_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pid"
    code = starting(path, own_session=True, then="threading.Event().wait(600)")

    def interrupted(_seconds: float | None) -> None:
        pid_in(path)
        raise KeyboardInterrupt

    started = process._Child.__init__

    def start(child: process._Child, command: Command) -> None:
        started(child, command)
        monkeypatch.setattr(child.stopped, "wait", interrupted)

    monkeypatch.setattr(process._Child, "__init__", start)
    with pytest.raises(KeyboardInterrupt):
        run(python(code), deadline=20)
    until(lambda: not alive(pid_in(path)), 1.0)


def test_a_stuck_reader_is_given_up_without_an_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    sink = streams.Sink(os.fdopen(reading, "rb", buffering=0), 10, keep_rest=True)
    reader = threading.Thread(target=sink.drain)
    reader.start()
    os.write(writing, b"so far")
    until(lambda: sink.output().head == b"so far")
    sink.abandoned = True
    if not POSIX:
        os.close(writing)
    reader.join(2.0)
    assert not reader.is_alive()
    if POSIX:
        os.close(writing)


def test_the_reaper_is_told_of_an_end_before_the_id_can_be_anothers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[bool] = []

    def closed(group: int) -> None:
        told.append(psutil.pid_exists(group))

    monkeypatch.setattr(process._reaper, "closed", closed)
    done = run(python(""), deadline=20)
    assert done.returncode == 0
    assert told == [hasattr(os, "waitid")]


@needs_sessions
def test_only_a_group_that_a_child_leads_is_ever_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True) as leader:
        assert process._is_our_group(leader.pid)
        leader.kill()
    with subprocess.Popen([sys.executable, "-c", SLEEPER]) as member:
        assert not process._is_our_group(member.pid)
        member.kill()
    for group in (-1, 0, 1, os.getpid(), os.getppid(), leader.pid):
        assert not process._is_our_group(group)


@needs_sessions
def test_a_stand_in_for_a_process_with_the_id_of_another_harms_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[object] = []
    monkeypatch.setattr(os, "killpg", lambda *given: killed.append(given))
    monkeypatch.setattr(psutil.Process, "kill", killed.append)
    pipes = [os.pipe(), os.pipe()]
    released = threading.Event()

    class StandIn:
        pid = 1
        stdout, stderr = (os.fdopen(reading, "rb") for reading, _ in pipes)

        def wait(self) -> int:
            released.wait(30)
            return 0

    monkeypatch.setattr(process, "_start", lambda _command: StandIn())
    assert run(python(""), deadline=0.1).ended == "deadline"
    released.set()
    assert killed == []
    for _, writing in pipes:
        os.close(writing)
