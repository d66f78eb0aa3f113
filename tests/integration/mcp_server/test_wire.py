"""The MCP server as a process: its standard streams, hostile lines, cancellation, its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    pid_in,
    row,
    until,
)
from helpers import POSIX
from running_worker import Running, start, text_of

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ECHO = f"""
if argv[0] == "search" and argv[-1] == "sleep":
    open("asleep", "w").write(f"{{os.getpid()}}\\n")
    time.sleep(600)
print({answer(row("app.py", "x = 1"))!r})
"""


@pytest.fixture
def fake(fake_executable: MakeExecutable, tmp_path: Path) -> FakeCcc:
    return fake_ccc(fake_executable, tmp_path, ECHO)


@pytest.fixture
def environ(fake: FakeCcc) -> dict[str, str]:
    return environment(VERA_CCC_EXECUTABLE=str(fake.path), VERA_CCC_GITIGNORE_SYNC="0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path.resolve() / "project")


def started(running: list[Running], environ: dict[str, str], root: Path, *program: str) -> Running:
    """A server that was initialized."""
    arguments = program or ("-m", "vera_ccc_tools", "mcp")
    server = start(running, environ, *arguments, "--dir", str(root))
    server.request("initialize", **INITIALIZE)
    said = server.read()["result"]
    assert said["protocolVersion"] == "2025-06-18"
    assert said["serverInfo"]["name"] == "cce"
    notify(server, "notifications/initialized")
    return server


def notify(server: Running, method: str, **params: Any) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    server.send(json.dumps(message).encode() + b"\n")


def call(server: Running, tool: str, **arguments: Any) -> int:
    return server.request("tools/call", name=tool, arguments=arguments)


HOSTILE = [
    b"garbage\n",
    b"\xff\xfe\x00\xc3(\n",
    b"\n\r\n\t\n",
    b"{\n",
    b"[]\n",
    b"null\n",
    b'{"jsonrpc":"2.0"}\n',
    b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}\n',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}\n',
    b'{"jsonrpc":"2.0","id":null,"method":5}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}\n',
    b'{"jsonrpc":"2.0","id":77,"result":{}}\n',
    b'{"jsonrpc":"2.0","id":78,"method":"ping","params":{"_meta":{"a":"\\ud800"}}}\n',
    b"[" * 100_000 + b"\n",
    b'"' + b"x" * 20_000_000 + b'"\n',
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("no/such/method", {}),
    ("tools/call", {}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": "context_search", "arguments": "query"}),
    ("tools/call", {"name": "context_search", "arguments": ["query"]}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
]


def test_hostile_lines_leave_the_session_alive(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    for line in HOSTILE:
        server.send(line)
    for method, params in REFUSED:
        number = server.request(method, **params)
        while (said := server.read()).get("id") != number:
            assert "error" in said, said  # what the SDK says of the lines above, if anything
        assert "error" in said, said
    call(server, "context_search", query="app")
    assert text_of(server.read()).startswith(" 1. [0.500000] app.py:1-1 (module/module) #")
    server.close()


def test_a_wrong_argument_is_no_error_of_the_protocol(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    for given in ({}, {"query": [5]}, {"query": "x", "detail": "tiny"}):
        call(server, "context_search", **given)
        assert server.read()["result"]["isError"] is True
    server.close()


def test_standard_output_carries_the_protocol_alone(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    program = (
        "import os, subprocess, sys\n"
        "from vera_ccc_tools import __main__\n"
        "from vera_ccc_tools.mcp_server.tools import conversation\n"
        "from vera_ccc_tools.mcp_server import table\n"
        "def loud(*_):\n"
        "    print('a print'); os.write(1, b'a write\\n'); sys.stdout.flush()\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"a child\")'])\n"
        "    return conversation.Answer(f'read {sys.stdin.read()!r}')\n"
        "object.__setattr__(table.BY_NAME['index_status'], 'run', loud)\n"
        "sys.exit(__main__.main(['mcp', *sys.argv[1:]]))"
    )
    server = started(running, environ, root, "-c", program)
    call(server, "index_status")
    assert text_of(server.read()) == "read ''"
    call(server, "summarize_context")
    assert "CCE session digest" in text_of(server.read())
    server.close()
    until(lambda: b"a child" in server.stderr)
    assert b"a print" in server.stderr


def test_a_bug_in_a_tool_is_an_answer(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    program = (
        "import sys\n"
        "from vera_ccc_tools import __main__\n"
        "from vera_ccc_tools.mcp_server import table\n"
        "object.__setattr__(table.BY_NAME['index_status'], 'run', lambda *_: 1 / 0)\n"
        "sys.exit(__main__.main(['mcp', *sys.argv[1:]]))"
    )
    server = started(running, environ, root, "-c", program)
    call(server, "index_status")
    said = server.read()["result"]
    assert said["isError"] is True
    assert "ZeroDivisionError" in said["content"][0]["text"]
    server.close()


def test_a_cancelled_search_ends_its_ccc_and_others_go_on(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    number = call(server, "context_search", query="sleep")
    sleeper = pid_in(root / "asleep")
    call(server, "summarize_context")
    assert "CCE session digest" in text_of(server.read())
    notify(server, "notifications/cancelled", requestId=number)
    until(lambda: not alive(sleeper))
    call(server, "summarize_context")
    assert "CCE session digest" in text_of(server.read())
    server.close()


def test_it_ends_with_its_input_and_takes_what_runs_with_it(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    call(server, "context_search", query="sleep")
    sleeper = pid_in(root / "asleep")
    children = psutil.Process(server.process.pid).children(recursive=True)
    server.close()
    until(lambda: not alive(sleeper))
    assert not any(alive(child.pid) for child in children)


def test_a_call_that_nothing_can_stop_does_not_keep_it_alive(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    program = (
        "import sys, threading\n"
        "from vera_ccc_tools import __main__\n"
        "from vera_ccc_tools.mcp_server import server\n"
        "from vera_ccc_tools.mcp_server import table\n"
        "server.END_SECONDS = 0.1\n"
        "def stuck(*_): threading.Event().wait()\n"
        "object.__setattr__(table.BY_NAME['index_status'], 'run', stuck)\n"
        "sys.exit(__main__.main(['mcp', *sys.argv[1:]]))"
    )
    server = started(running, environ, root, "-c", program)
    call(server, "index_status")
    call(server, "summarize_context")
    assert "CCE session digest" in text_of(server.read())
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(10) == 0


@pytest.mark.skipif(not POSIX, reason="a closed pipe is another error on Windows")
def test_a_client_that_goes_away_is_no_error(environ: dict[str, str], root: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "vera_ccc_tools", "mcp", "--dir", str(root)],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        process.stdin.close()
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_what_it_runs(
    number: signal.Signals, running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    call(server, "context_search", query="sleep")
    sleeper = pid_in(root / "asleep")
    server.process.send_signal(number)
    assert server.process.wait(10) == -number
    until(lambda: not alive(sleeper))


def test_more_calls_than_run_at_a_time_are_all_answered(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    server = started(running, environ, root)
    numbers = {call(server, "context_search", query=f"q{number}") for number in range(40)}
    assert {server.read()["id"] for _ in numbers} == numbers
    server.close()


def test_without_the_extra_the_verb_says_what_to_install(
    running: list[Running], environ: dict[str, str], root: Path
) -> None:
    program = (
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        "from vera_ccc_tools import __main__\n"
        "sys.exit(__main__.main(['mcp', *sys.argv[1:]]))"
    )
    server = start(running, environ, "-c", program, "--dir", str(root))
    assert server.process.wait(10) == 1
    until(lambda: b"vera-ccc-tools[mcp]" in server.stderr)
