"""The nine tools in the real Pi, which starts our server as its `mcp.json` says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.model_stub import ModelStub, use
from e2e.pi import SECONDS, Pi
from vera_ccc_tools.mcp_server.table import TOOLS
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

pytestmark = pytest.mark.parametrize("pi_version", ["1.6.0"], indirect=True)


@pytest.fixture
def indexed(project: Path, ccc_home: dict[str, str]) -> Path:
    result = table.call_tool(Session(ccc_home), "ccc_index", {}, Call(project))
    assert not result["isError"], result
    return project


def add_server(pi: Pi, project: Path) -> None:
    """Have Pi write its own configuration, with only our server and without our extension."""
    pi.configure(project / "no-package")
    server = [sys.executable, "-m", "vera_ccc_tools", "mcp"]
    added = subprocess.run(
        [*pi.command, "mcp", "add", "cce", "--exposure", "direct", "--", *server],
        cwd=project,
        env=pi.environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert added.returncode == 0, added
    assert json.loads((pi.agent / "mcp.json").read_text("utf-8"))["mcpServers"]["cce"]


def test_all_nine_are_there_and_answer(pi: Pi, model: ModelStub, indexed: Path) -> None:
    add_server(pi, indexed)
    decision = "Uploads are retried in src/upload.py only."
    model.say(
        [
            use("mcp__cce__context_search", query="retry a failed upload", top_k=1),
            use("mcp__cce__index_status"),
            use("mcp__cce__record_feedback", query_id="0123456789ab", helpful=True),
            use("mcp__cce__set_output_compression", level="lite"),
            use("mcp__cce__record_decision", text=decision, tags=["upload"]),
            use("mcp__cce__session_recall", query="where are uploads retried"),
            use("mcp__cce__summarize_context"),
        ]
    )
    done = pi.print("find it", indexed)
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done
    named = [f"mcp__cce__{tool.name}" for tool in TOOLS]
    assert [name for name in model.requests[0].tools if name in named] == named
    found, status, feedback, level, recorded, recalled, digest = model.requests[-1].tool_results
    assert re.match(r" 1\. \[\d\.\d{6}\] src/upload\.py:1-2 \(\w+/\w+\) #[0-9a-f]{16}\n", found)
    assert "  files   : 2\n" in status
    assert "Recorded feedback (helpful)" in feedback
    assert "now `lite` for this session" in level
    assert re.match(r"Recorded decision #[0-9a-f]{16}\.", recorded)
    assert decision in recalled
    assert "- src/upload.py" in digest


def test_a_chunk_is_expanded_and_widened_and_an_error_reaches_the_model(
    pi: Pi, model: ModelStub, indexed: Path
) -> None:
    add_server(pi, indexed)
    model.say([use("mcp__cce__context_search", query="retry a failed upload", top_k=1)])
    pi.print("find it", indexed)
    chunk_id = model.requests[-1].tool_result.split("#", 1)[1][:16]
    model.say(
        [
            use("mcp__cce__expand_chunk", chunk_id=chunk_id),
            use("mcp__cce__related_context", chunk_id=chunk_id),
            use("mcp__cce__context_search", query=" "),
        ]
    )
    pi.print("read it", indexed)
    body, related, failed = model.requests[-1].tool_results
    assert body == "def retry_upload(file):\n    '''retry a failed upload'''"
    assert "No import-graph neighbours for src/upload.py" in related
    assert "`query` is empty" in failed
