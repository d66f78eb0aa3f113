"""The two Pis, each with a model stub, and projects to work on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from conftest import MakeExecutable, MakeRepository
from e2e.model_stub import ModelStub
from e2e.pi import Pi, merged
from helpers import ROOT

VERSIONS = ("1.6.0", "0.74.2")


@pytest.fixture
def model() -> Iterator[ModelStub]:
    """A model that answers by the test's script."""
    stub = ModelStub()
    yield stub
    stub.close()


@pytest.fixture(params=VERSIONS)
def pi_version(request: pytest.FixtureRequest) -> str:
    """Each of the versions that are supported; the newest alone where a test says so."""
    version: str = request.param
    return version


@pytest.fixture
def pi(
    pi_version: str,
    model: ModelStub,
    ccc_home: dict[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Pi]:
    """A Pi that loads this repository, for a user with a ready ccc. It must leave no process."""
    node, cli = ("node_24", "pi_16") if pi_version == "1.6.0" else ("node_20", "pi_074")
    command = (str(request.getfixturevalue(node)), str(request.getfixturevalue(cli)))
    env = merged(ccc_home, VERA_CCC_PYTHON=sys.executable)
    made = Pi(pi_version, command, tmp_path / "agent", model, env)
    made.configure(ROOT)
    yield made
    _, alive = psutil.wait_procs(made.processes(), timeout=5)
    left = [process.cmdline() for process in alive]
    for process in alive:
        process.kill()
    assert not left, f"still running after Pi has ended: {left}"


@pytest.fixture
def project(git_repo: MakeRepository) -> Path:
    """A git repository with two telling files and an ignored one."""
    return git_repo(
        {
            ".gitignore": "secrets/\n",
            "src/upload.py": "def retry_upload(file):\n    '''retry a failed upload'''\n",
            "src/colour.py": "def mix_colours(red, blue):\n    '''mix paint colours'''\n",
            "secrets/token.py": "def rotate_token():\n    '''rotate the vault credential'''\n",
        }
    )


@pytest.fixture
def hanging_ccc(fake_executable: MakeExecutable) -> Path:
    """A ccc that says what it is and answers nothing else."""
    return fake_executable(
        "ccc",
        """
        import sys, time
        if "version" in "".join(sys.argv):
            print("0.2.42")
        else:
            time.sleep(600)
        """,
    )


@dataclass(frozen=True, slots=True)
class FakeWorker:
    """An interpreter that, whatever it shall run, is a worker of the test's making.

    Attributes:
        python: The executable.
        overview: A file with what it answers when it is asked for the index at a glance.
        behaviour: A file with what ``call(progress)`` does before a tool's result, "all of it".
        log: A file with the processes that were started.
    """

    python: Path
    overview: Path
    behaviour: Path
    log: Path

    def behaves(self, statements: str) -> None:
        """What a call does from now on, in Python, on one line."""
        self.behaviour.write_text(f"def call(progress):\n    {statements}\n")

    def sees(self, **overview: Any) -> None:
        """What the index is at a glance from now on."""
        nothing: dict[str, Any] = {
            "state": "none",
            "root": None,
            "files": 0,
            "chunks": 0,
            "languages": {},
        }
        rest = {"progress": None, "job": None, "fresh": None, "message": "", "hint": ""}
        # Replaced at once, since the worker may be reading it.
        new = self.overview.with_suffix(".new")
        new.write_text(json.dumps({**nothing, **rest, **overview}), encoding="utf-8")
        new.replace(self.overview)

    def starts(self) -> list[int]:
        """The ids of its processes, in the order of their starts."""
        return [int(pid) for pid in self.log.read_text().split()] if self.log.exists() else []


@pytest.fixture
def fake_worker(fake_executable: MakeExecutable, tmp_path: Path) -> FakeWorker:
    """A worker whose calls tell of their progress and succeed."""
    behaviour, log = tmp_path / "behaviour.py", tmp_path / "processes"
    overview = tmp_path / "overview.json"
    python = fake_executable(
        "python-fake",
        f"""
        import json, os, queue, runpy, sys, threading
        with open({str(log)!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        def send(**message):
            os.write(1, json.dumps({{"jsonrpc": "2.0", **message}}).encode() + b"\\n")
        calls = queue.Queue()
        def read():
            # Unbuffered: an end of the process must not find a buffer locked.
            for line in open(0, "rb", buffering=0, closefd=False):
                request = json.loads(line)
                if request["method"] == "status":
                    send(id=request["id"], result={{"text": "a fake status"}})
                elif request["method"] == "overview":
                    send(id=request["id"], result=json.load(open({str(overview)!r})))
                elif request["method"] != "cancel":
                    calls.put(request["id"])
            calls.put(None)
        threading.Thread(target=read, daemon=True).start()
        while (call := calls.get()) is not None:
            def progress(text, **numbers):
                send(method="progress", params={{"id": call, "text": text, **numbers}})
            runpy.run_path({str(behaviour)!r})["call"](progress)
            send(id=call, result={{"content": [{{"type": "text", "text": "all of it"}}]}})
        """,
    )
    made = FakeWorker(python, overview, behaviour, log)
    made.sees()
    made.behaves("progress('half of it')")
    return made
