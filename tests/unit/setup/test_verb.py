"""The verb init as it is run: its report, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import ROOT, write_file
from init_helpers import snapshot, vera
from vera_ccc_tools.cli import verbs
from vera_ccc_tools.setup.agents import AGENTS


def test_the_command_line_knows_the_agents_of_the_table() -> None:
    assert list(AGENTS) == list(verbs.AGENTS)


def test_the_verb_tells_each_file_and_the_next_step(tmp_path: Path) -> None:
    done = vera("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["created    .mcp.json", "created    CLAUDE.md"]
    assert lines[2].startswith("Restart Claude Code")
    done = vera("init", "--remove", "--json", "--dir", str(tmp_path), cwd=ROOT)
    assert json.loads(done.stdout) == {
        "agent": "claude",
        "directory": str(tmp_path.resolve()),
        "files": [
            {"path": ".mcp.json", "action": "deleted"},
            {"path": "CLAUDE.md", "action": "deleted"},
        ],
        "next": [],
    }
    assert snapshot(tmp_path) == {}


def test_the_verb_ends_with_1_on_a_refusal_and_with_2_on_an_unknown_agent(tmp_path: Path) -> None:
    write_file(tmp_path / ".cursor" / "mcp.json", "{")
    done = vera("init", "--agent", "cursor", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert ".cursor/mcp.json, line 1: it is no JSON" in done.stderr
    assert "run init again" in done.stderr
    assert vera("init", "--agent", "emacs", cwd=tmp_path).returncode == 2
    assert set(snapshot(tmp_path)) == {".cursor/mcp.json"}
