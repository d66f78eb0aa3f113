"""The worker as a process of its own: what it costs, what it leaves behind, what it survives."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from core_helpers import (
    FakeCcc,
    MakeExecutable,
    alive,
    answer,
    environment,
    fake_ccc,
    make_project,
    row,
    until,
)
from helpers import POSIX
from running_worker import Running, start, text_of
from vera_ccc_tools import worker

LAZY = ("asyncio", "bracex", "filelock", "pathspec", "psutil", "ruamel.yaml", "sqlite3")
"""Modules that only rare calls need: the first answer does not wait for them."""


ECHO = f"""
if argv[0] == "search" and argv[-1] == "sleep":
    open("asleep", "w").write(str(os.getpid()))
    time.sleep(600)
if argv[0] == "search" and argv[-1] == "flood":
    for _ in range(200):
        sys.stdout.write("x" * (1 << 20))
    sys.exit()
if argv[0] == "search" and argv[-1] == "fail":
    sys.exit("Error: it failed on purpose")
found = json.loads({answer()!r})
found["results"] = [json.loads({json.dumps(row())!r}) | {{"content": "about " + argv[-1]}}]
print(json.dumps(found, separators=(",", ":")))
"""


@pytest.fixture
def fake(fake_executable: MakeExecutable, tmp_path: Path) -> FakeCcc:
    return fake_ccc(fake_executable, tmp_path, ECHO)


@pytest.fixture
def environ(fake: FakeCcc, tmp_path: Path) -> dict[str, str]:
    spool = tmp_path / "spool"
    spool.mkdir()
    changes = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    return environment(**changes, TMPDIR=str(spool))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path.resolve() / "project")


def sleeper(root: Path) -> int:
    """The process id of the fake that sleeps, once it does."""
    path = root / "asleep"
    until(lambda: path.is_file() and path.read_text() != "")
    return int(path.read_text())


def test_the_first_answer_waits_for_no_module_that_it_does_not_need(
    running: list[Running], environ: dict[str, str]
) -> None:
    program = (
        "import sys, threading\n"
        "from vera_ccc_tools.tools import table as tools\n"
        "from vera_ccc_tools import worker\n"
        "listing = tools.listing\n"
        f"tools.listing = lambda: {{'loaded': [m for m in {LAZY} if m in sys.modules]}}\n"
        "sys.exit(worker.main())"
    )
    started = start(running, environ, "-c", program)
    started.request("tools/list")
    assert started.read()["result"] == {"loaded": []}


def test_at_rest_it_takes_little_memory_and_no_time(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    process = psutil.Process(started.process.pid)
    started.request("tools/list")
    assert len(started.read()["result"]["tools"]) == 4
    spent = process.cpu_times()
    assert spent.user + spent.system < 0.5  # 0.1 on an idle machine
    for number in range(3):
        started.search(root, f"{number}")
        assert "result" in started.read()
    assert process.memory_info().rss < 60 * 1024 * 1024
    assert started.close() < 2.0
    assert started.stderr == b""


def test_stray_prints_do_not_reach_standard_output(
    running: list[Running], environ: dict[str, str]
) -> None:
    program = (
        "import os, subprocess, sys\n"
        "from vera_ccc_tools.tools import table as tools\n"
        "from vera_ccc_tools import worker\n"
        "def listing():\n"
        "    print('a print'); os.write(1, b'a write\\n'); sys.stdout.flush()\n"
        "    sys.__stdout__.write('another\\n'); sys.__stdout__.flush()\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"a child\")'])\n"
        "    return {'read': sys.stdin.read()}\n"
        "tools.listing = listing; sys.exit(worker.main())"
    )
    started = start(running, environ, "-c", program)
    started.request("tools/list")
    assert started.read()["result"] == {"read": ""}
    started.request("nothing")
    assert started.read()["error"]["code"] == worker.METHOD_NOT_FOUND
    until(lambda: started.stderr.count(b"\n") == 4)
    assert sorted(started.stderr.split(b"\n")) == [
        b"", b"a child", b"a print", b"a write", b"another",
    ]  # fmt: skip


def test_junk_and_floods_on_its_input_leave_it_alive(
    running: list[Running], environ: dict[str, str]
) -> None:
    started = start(running, environ)
    started.send(b"\x00\xff\n" + b"x" * (worker.MAX_LINE + 5) + b"\n[]\n\n")
    codes = [started.read()["error"]["code"] for _ in range(3)]
    expected = [worker.PARSE_ERROR, worker.INVALID_REQUEST, worker.INVALID_REQUEST]
    assert codes == expected
    started.request("tools/list")
    assert "result" in started.read()
    started.send(b'{"id": 9, "method": "tools/list"}')  # and no end of the line
    assert started.close() < 2.0
    assert started.read()["id"] == 9


def test_a_cancel_is_answered_within_a_second_and_ends_what_ran(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    slow = started.search(root, "sleep")
    pid = sleeper(root)
    fast = started.search(root, "fast")
    message = started.read()
    assert (message["id"], "about fast" in text_of(message)) == (fast, True)
    pressed = time.monotonic()
    cancel = {"jsonrpc": "2.0", "method": "cancel", "params": {"id": slow}}
    started.send(json.dumps(cancel).encode() + b"\n")
    message = started.read()
    assert time.monotonic() - pressed < 1.0
    assert (message["id"], message["error"]["code"]) == (slow, worker.CANCELLED)
    until(lambda: not alive(pid), 1.0)


def test_the_end_of_its_input_ends_everything_within_two_seconds(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    given = {"name": "ccc_index", "arguments": {"background": True}, "cwd": str(root)}
    started.request("tools/call", **given)
    assert "result" in started.read()
    started.search(root, "sleep")
    pid = sleeper(root)
    children = psutil.Process(started.process.pid).children(recursive=True)
    assert started.close() < 2.0
    until(lambda: not alive(pid), 1.0)
    until(lambda: not any(alive(child.pid) for child in children), 1.0)


@pytest.mark.skipif(not POSIX, reason="on Windows nothing tells of a parent's death")
def test_a_worker_that_is_killed_leaves_nothing_behind(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    started.search(root, "sleep")
    pid = sleeper(root)
    children = psutil.Process(started.process.pid).children(recursive=True)
    assert pid in {child.pid for child in children}
    started.process.kill()
    started.process.wait(10)
    until(lambda: not any(alive(child.pid) for child in children), 2.0)


def test_200_mb_of_output_cost_bounded_memory(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    started.search(root, "flood")
    message = started.read()
    assert message["result"]["details"]["by"] == "words"
    assert "printed 209,715,200 bytes" in text_of(message).split("\n")[0]
    if sys.platform == "linux":
        status = Path(f"/proc/{started.process.pid}/status").read_text(encoding="utf-8")
        (peak,) = [line.split()[1] for line in status.split("\n") if line.startswith("VmHWM:")]
        assert int(peak) < 200 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell of no peak")
def test_the_memory_of_floods_does_not_add_up(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    process = psutil.Process(started.process.pid)

    def after_floods() -> int:
        for _ in range(4):
            started.search(root, "flood")
            assert started.read()["result"]["details"]["by"] == "words"
        return int(process.memory_info().rss)

    before = after_floods()
    assert after_floods() - before < 32 * 1024 * 1024


def test_many_calls_leave_no_descriptor_thread_or_process(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    started = start(running, environ)
    process = psutil.Process(started.process.pid)
    assert _ask_many(started, root, 12) == {f"about {each}" for each in range(10)}
    handles = getattr(process, "num_fds" if POSIX else "num_handles")

    def held() -> tuple[int, int, int]:
        return handles(), process.num_threads(), len(process.children(recursive=True))

    before, memory = held(), process.memory_info().rss
    for _ in range(8):
        assert _ask_many(started, root, 12) == {f"about {each}" for each in range(10)}
    until(lambda: held() <= before)
    assert process.memory_info().rss - memory < 10 * 1024 * 1024


def _ask_many(started: Running, root: Path, count: int) -> set[str]:
    """Ask *count* things at once, two of which fail; what was told of each, once for each."""
    asked = {started.search(root, f"{each}"): f"about {each}" for each in range(count - 2)}
    failing = {started.search(root, "fail"), started.request("nothing")}
    told = set()
    for _ in range(count):
        message = started.read()
        if message["id"] in failing:
            assert "error" in message or message["result"]["details"]["by"] == "words"
        else:
            assert asked[message["id"]] in text_of(message)
            told.add(asked[message["id"]])
    return told
