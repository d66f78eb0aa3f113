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
from process_helpers import needs_sessions, python
from vera_ccc_tools.system import pipes as streams
from vera_ccc_tools.system import process
from vera_ccc_tools.system.process import run

VICTIM = """
    import os, sys
    from pathlib import Path
    from vera_ccc_tools.system import process
    code = "import os, sys, threading\\n" \\
           "open(sys.argv[1], 'w').write(f'{os.getpid()}\\\\n')\\nthreading.Event().wait(600)"
    command = process.Command((sys.executable, "-c", code, sys.argv[1]), Path("/"), os.environ)
    process.run(command, deadline=None)
"""


def _victim(path: Path) -> tuple[subprocess.Popen[bytes], int]:
    code = textwrap.dedent(VICTIM)
    victim = subprocess.Popen([sys.executable, "-c", code, str(path)], stderr=subprocess.DEVNULL)
    return victim, pid_in(path)


@needs_sessions
def test_a_process_that_is_killed_takes_its_children_with_it(tmp_path: Path) -> None:
    victim, child = _victim(tmp_path / "pid")
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


def test_a_stuck_reader_is_given_up_without_an_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    sink = streams.Sink(os.fdopen(reading, "rb", buffering=0), 10)
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


def test_the_reaper_knows_of_an_end_before_the_id_can_be_anothers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there: list[bool] = []

    def announce(line: str) -> None:
        if line.startswith("-"):
            there.append(psutil.pid_exists(int(line[1:])))

    monkeypatch.setattr(process, "_announce", announce)
    assert run(python(""), deadline=20).returncode == 0
    assert there == [hasattr(os, "waitid")]


@needs_sessions
def test_a_stand_in_for_a_process_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[object] = []
    monkeypatch.setattr(os, "killpg", lambda *given: killed.append(given))
    pipes = [os.pipe(), os.pipe()]
    released = threading.Event()

    class StandIn:
        pid = 0
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
