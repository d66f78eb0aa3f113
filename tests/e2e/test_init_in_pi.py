"""What init writes is what agents start the server from: the real Pi, and the SDK's own client."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from e2e.model_stub import ModelStub, use
from e2e.pi import Pi
from vera_ccc_tools.setup import guidance, init


@pytest.fixture
def named_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own Python runs the server: nothing is installed."""
    monkeypatch.setenv("VERA_CCC_PYTHON", sys.executable)


@pytest.mark.usefixtures("named_python")
@pytest.mark.parametrize("pi_version", ["1.6.0"])
def test_pi_calls_a_tool_of_the_server_and_is_told_how_to_use_it(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    init.set_up(project, "pi")
    model.say([use("mcp__cce__index_status")])
    done = pi.print("how fresh is the index?", project, "--approve")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert "mcp__cce__context_search" in model.requests[0].tools
    assert guidance.BEGIN in model.requests[0].system
    assert "not indexed" in model.requests[-1].tool_result.lower()


@pytest.mark.usefixtures("named_python")
def test_the_sdks_client_starts_the_server_as_claude_code_does(
    ccc_user: dict[str, str], project: Path
) -> None:
    init.set_up(project, "claude")
    entry = json.loads((project / ".mcp.json").read_text("utf-8"))["mcpServers"]["cce"]
    env = {**ccc_user, "VERA_CCC_PYTHON": sys.executable}
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=env, cwd=project
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        tools = portal.call(client.list_tools).tools
    assert len(tools) == 9
    assert tools[0].name == "context_search"
