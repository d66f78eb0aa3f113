"""What can go wrong between Pi and the worker's process, forced in the real Pi."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from conftest import MakeExecutable
from e2e.conftest import FakeWorker
from e2e.model_stub import ModelStub, use
from e2e.pi import Pi, Session, merged, until
from helpers import POSIX, ROOT

posix_only = pytest.mark.skipif(not POSIX, reason="the fault is forced with POSIX signals")


def with_env(pi: Pi, **changes: str) -> Pi:
    """The same Pi for a user with another environment."""
    pi.env.update(changes)
    env = merged(pi.env)
    pi.env.clear()
    pi.env.update(env)
    return pi


def workers(pi: Pi) -> list[psutil.Process]:
    return pi.processes("worker")


def call_tool(session: Session, model: ModelStub) -> None:
    """Let the model call a tool, and come back when the call runs."""
    model.say([use("ccc_index")])
    session.request("prompt", message="index it")
    session.event("tool_execution_start")


def test_help_starts_no_process(pi: Pi, fake_worker: FakeWorker, project: Path) -> None:
    done = with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).run(["--help"], project)
    assert done.returncode == 0
    assert fake_worker.starts() == []


def test_print_mode_ends_promptly_and_leaves_nothing(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path
) -> None:
    model.say([use("ccc_doctor")])
    done = with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).print("check", project)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert model.requests[1].tool_result == "all of it"
    assert len(fake_worker.starts()) == 1
    assert pi.processes() == []


def test_without_python_the_tools_are_there_and_say_what_to_install(
    pi: Pi, model: ModelStub, project: Path, tmp_path: Path
) -> None:
    model.say([use("ccc_search", query="upload")])
    empty = tmp_path / "empty"
    empty.mkdir()
    done = with_env(pi, VERA_CCC_PYTHON="", PATH=str(empty)).print("find it", project)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert {"ccc_search", "ccc_index", "ccc_init", "ccc_doctor"} <= set(model.requests[0].tools)
    assert "Install Python 3.11 or newer" in model.requests[0].status
    assert "Install Python 3.11 or newer" in model.requests[1].tool_result


def test_progress_is_shown_while_a_call_runs(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path
) -> None:
    with with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).rpc(project) as session:
        call_tool(session, model)
        update = session.event("tool_execution_update")
        session.event("agent_end")
    assert update["partialResult"]["content"] == [{"type": "text", "text": "half of it"}]
    assert model.requests[1].tool_result == "all of it"


@pytest.mark.parametrize(
    "fault_and_words",
    [
        ("import os; os.write(2, b'a: lost\\n'); os._exit(3)", "ended (exit code 3): a: lost"),
        ("print('Loading model …', flush=True); import time; time.sleep(99)", "not its protocol"),
        ("import os, time; os.close(1); time.sleep(99)", "closed its output"),
    ],
    ids=["dies", "prints", "closes stdout"],
)
def test_a_worker_that_fails_is_told_and_the_next_call_starts_another(
    pi: Pi,
    model: ModelStub,
    fake_worker: FakeWorker,
    project: Path,
    fault_and_words: tuple[str, str],
) -> None:
    fault, told = fault_and_words
    fake_worker.behaves(fault)
    with with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).rpc(project) as session:
        model.say([use("ccc_doctor")])
        session.prompt("check")
        fake_worker.behaves("pass")
        model.say([use("ccc_doctor")])
        session.prompt("check again")
    assert told in model.requests[1].tool_result
    assert model.requests[3].tool_result == "all of it"
    assert len(fake_worker.starts()) == 2


def test_a_worker_that_keeps_dying_is_not_started_for_ever(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path
) -> None:
    fake_worker.behaves("raise SystemExit('no room')")
    model.say([use("ccc_doctor")] * 4)
    with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).print("check", project)
    results = model.requests[-1].tool_results
    assert ["no room" in result for result in results] == [True] * 4
    assert "died 3 times within a minute" in results[3]
    assert len(fake_worker.starts()) == 3


def test_an_abort_ends_the_call_and_what_it_runs(
    pi: Pi, model: ModelStub, hanging_ccc: Path, project: Path
) -> None:
    with with_env(pi, VERA_CCC_EXECUTABLE=str(hanging_ccc)).rpc(project) as session:
        call_tool(session, model)
        until(lambda: pi.processes("index") or pi.processes("init"))
        began = time.monotonic()
        session.request("abort")
        assert time.monotonic() - began < 1.5
        until(lambda: not (pi.processes("index") or pi.processes("init")), 2)
        model.say([use("ccc_search", query="x")])
        session.prompt("the worker lives on")
        assert len(workers(pi)) == 1


def test_an_abort_that_the_worker_does_not_answer_is_over_within_a_second(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path
) -> None:
    fake_worker.behaves("progress('working'); import time; time.sleep(99)")
    with with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).rpc(project) as session:
        call_tool(session, model)
        session.event("tool_execution_update")
        began = time.monotonic()
        session.request("abort")
        assert time.monotonic() - began < 2


def test_a_new_session_ends_the_worker_of_the_old_one(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path
) -> None:
    with with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).rpc(project) as session:
        session.prompt("hello")
        session.request("new_session")
        model.say([use("ccc_doctor")])
        session.prompt("check")
        first, second = fake_worker.starts()
        assert not psutil.pid_exists(first) or psutil.Process(first).status() == "zombie"
        assert psutil.Process(second).is_running()
    assert model.requests[-1].tool_result == "all of it"
    assert "a fake status" in model.requests[-1].status


def test_a_reload_ends_the_worker_and_the_tools_work_on(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path, tmp_path: Path
) -> None:
    reloading = tmp_path / "reloading.js"
    reloading.write_text(
        "export default (pi) => pi.registerCommand('again', "
        "{ description: 'reload', handler: async (_args, ctx) => { await ctx.reload(); } });"
    )
    pi.configure(ROOT, reloading)
    with with_env(pi, VERA_CCC_PYTHON=str(fake_worker.python)).rpc(project) as session:
        session.prompt("hello")
        session.request("prompt", message="/again")
        until(lambda: len(fake_worker.starts()) == 2)
        model.say([use("ccc_doctor")])
        session.prompt("check")
        assert not psutil.pid_exists(fake_worker.starts()[0])
    assert model.requests[-1].tool_result == "all of it"


def test_a_status_that_does_not_come_delays_a_turn_by_half_a_second_at_most(
    pi: Pi, model: ModelStub, hanging_ccc: Path, project: Path
) -> None:
    (project / ".cocoindex_code").mkdir()
    (project / ".cocoindex_code" / "settings.yml").write_text("include_patterns: []\n")
    (project / ".cocoindex_code" / "target_sqlite.db").write_bytes(b"x")
    env = {"VERA_CCC_EXECUTABLE": str(hanging_ccc), "VERA_CCC_TIMEOUT_STATUS": "0"}
    with with_env(pi, **env).rpc(project) as session:
        until(lambda: pi.processes("status"))
        began = time.monotonic()
        session.request("prompt", message="hello")
        request = model.arrived.get(timeout=10)
        assert time.monotonic() - began < 1.5
        session.event("agent_end")
    assert "not known yet" in request.status


@posix_only
def test_a_pi_that_is_killed_leaves_no_worker(
    pi: Pi, model: ModelStub, hanging_ccc: Path, project: Path
) -> None:
    with_env(pi, VERA_CCC_EXECUTABLE=str(hanging_ccc))
    with pi.start(["--mode", "rpc"], project) as process:
        call_tool(Session(process), model)
        until(lambda: workers(pi) and (pi.processes("index") or pi.processes("init")))
        process.kill()
        until(lambda: pi.processes() == [], 3)


@posix_only
def test_the_terminals_interrupt_reaches_pi_alone_and_all_of_it_ends(
    pi: Pi, model: ModelStub, hanging_ccc: Path, project: Path
) -> None:
    model.say([use("ccc_index")])
    with_env(pi, VERA_CCC_EXECUTABLE=str(hanging_ccc))
    with pi.start(["-p", "index it"], project) as process:
        assert process.stdin is not None
        process.stdin.close()
        worker = until(lambda: workers(pi) and (pi.processes("index") or pi.processes("init")))[0]
        assert os.getpgid(worker.pid) != os.getpgid(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(10)
        until(lambda: pi.processes() == [], 3)


@posix_only
def test_a_stopped_worker_does_not_keep_pi_from_ending(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    with pi.rpc(project) as session:
        session.prompt("hello")
        workers(pi)[0].suspend()
        began = time.monotonic()
        session.close()
        assert time.monotonic() - began < 5
    assert pi.processes() == []


def test_a_call_before_its_environment_is_there_tells_how_far_it_is(
    pi: Pi, model: ModelStub, fake_executable: MakeExecutable, project: Path
) -> None:
    slow = fake_executable(
        "python-slow",
        """
        import json, os, sys
        os.write(2, b"vera-ccc-tools: making its Python environment\\n")
        for line in sys.stdin.buffer:
            request = json.loads(line)
            if request["method"] == "tools/call":
                os.write(2, b"vera-ccc-tools: nearly there\\n")
                os.write(2, b"vera-ccc-tools: pip failed: no network.\\nTry again later.\\n")
                sys.exit(1)
        """,
    )
    with with_env(pi, VERA_CCC_PYTHON=str(slow)).rpc(project) as session:
        call_tool(session, model)
        update = session.event("tool_execution_update")
        session.event("agent_end")
    assert update["partialResult"]["content"][0]["text"] in (
        "making its Python environment",
        "nearly there",
    )
    assert "pip failed: no network. Try again later." in model.requests[1].tool_result
