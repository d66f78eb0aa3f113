"""The table of the nine tools is the contract's: names, order, schemas; and the README shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from helpers import ROOT, write_file
from vera_ccc_tools.errors import Do, Failure, Front, InvalidArgument, Step
from vera_ccc_tools.mcp_server import table
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.mcp_server.tools import remember
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.system import text as output
from vera_ccc_tools.system.call import Call

SCHEMAS: dict[str, dict[str, Any]] = {
    "context_search": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "top_k": {"type": "integer", "default": 8},
            "package": {
                "type": "string",
                "description": "scope to one workspace member (optional)",
            },
            "no_graph": {"type": "boolean", "default": False},
            "max_tokens": {
                "type": "integer",
                "description": "cap the returned context (optional)",
            },
            "detail": {
                "type": "string",
                "enum": ["signature", "compact", "full"],
                "description": (
                    "chunk compression level (optional; default from config, usually compact)"
                ),
            },
            "source": {
                "type": "string",
                "enum": ["code", "knowledge", "both"],
                "description": (
                    "which pools to search (optional; default `both` when a knowledge store "
                    "exists, else `code`)"
                ),
            },
        },
        "required": ["query"],
    },
    "index_status": {"type": "object", "properties": {}},
    "record_feedback": {
        "type": "object",
        "properties": {
            "query_id": {"type": "string"},
            "helpful": {"type": "boolean"},
            "note": {"type": "string"},
        },
        "required": ["query_id", "helpful"],
    },
    "expand_chunk": {
        "type": "object",
        "properties": {
            "chunk_id": {"type": "string"},
            "scope": {"type": "string", "enum": ["body", "file", "neighbors"], "default": "body"},
        },
        "required": ["chunk_id"],
    },
    "related_context": {
        "type": "object",
        "properties": {
            "chunk_id": {"type": "string"},
            "top_k": {"type": "integer", "default": 8},
        },
        "required": ["chunk_id"],
    },
    "set_output_compression": {
        "type": "object",
        "properties": {
            "level": {
                "type": "string",
                "enum": ["off", "lite", "standard", "max"],
                "description": "how terse THIS session's answers should be",
            }
        },
        "required": ["level"],
    },
    "record_decision": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "the validated decision to remember"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "optional labels",
            },
            "area": {
                "type": "string",
                "description": "optional area/component this decision is about",
            },
        },
        "required": ["text"],
    },
    "session_recall": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "top_k": {"type": "integer", "default": 5},
        },
        "required": ["query"],
    },
    "summarize_context": {
        "type": "object",
        "properties": {
            "scope": {
                "type": "string",
                "enum": ["all", "files", "queries", "decisions"],
                "default": "all",
            }
        },
    },
}


def call(state: ServerState, name: str, given: Any) -> tuple[str, bool]:
    answer = table.call(state, name, given, Call(state.directory))
    return answer.text, answer.failed


@pytest.fixture
def state(tmp_path: Path) -> ServerState:
    """A directory that is no project."""
    return ServerState(tmp_path.resolve())


def test_the_schemas_are_the_contracts_in_its_order() -> None:
    assert [tool.name for tool in table.TOOLS] == list(SCHEMAS)
    assert {tool.name: tool.schema for tool in table.TOOLS} == SCHEMAS


@pytest.mark.parametrize("tool", table.TOOLS, ids=lambda tool: tool.name)
def test_the_readme_names_each_argument_with_its_default(tool: table.McpTool) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{tool.name}` \| (.*?) \|", readme, re.MULTILINE)
    assert row is not None
    shown = dict(re.findall(r"`(\w+)`(?: [^`(,]*)?(?:\(([^)]*)\))?", row[1]))
    assert list(shown) == list(tool.properties)
    for name, described in tool.properties.items():
        default = described.get("default", "")
        assert shown[name] == (default if isinstance(default, str) else json.dumps(default))


def test_an_unknown_tool_is_an_error_of_the_protocol(state: ServerState) -> None:
    with pytest.raises(InvalidArgument, match="no tool 'context_serach'") as caught:
        call(state, "context_serach", {})
    assert "context_search" in tell(caught.value, Front.MODEL)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("context_search", {}, "`query` is missing"),
        ("context_search", {"query": " "}, "`query` is empty"),
        ("context_search", {"query": [1]}, "`query` is \\[1\\]"),
        ("context_search", {"query": "x", "top_k": "many"}, "`top_k` is 'many'"),
        ("context_search", {"query": "x", "top_k": True}, "`top_k` is True"),
        ("context_search", {"query": "x", "detail": "tiny"}, "'tiny'.*`signature`.*`full`"),
        ("context_search", {"query": "x", "source": "web"}, "'web'.*`code`.*`both`"),
        ("context_search", {"query": "x", "max_tokens": 1.5}, "`max_tokens` is 1.5"),
        ("context_search", {"query": "x", "no_graph": "no"}, "`no_graph` is 'no'"),
        ("context_search", {"query": "x", "package": {}}, "`package` is {}"),
        ("record_feedback", {"helpful": True}, "`query_id` is missing"),
        ("record_feedback", {"query_id": "a"}, "`helpful` is missing"),
        ("record_feedback", {"query_id": "a", "helpful": "yes"}, "`helpful` is 'yes'"),
        ("expand_chunk", {}, "`chunk_id` is missing"),
        ("expand_chunk", {"chunk_id": "a", "scope": "all"}, "'all'.*`body`.*`neighbors`"),
        ("related_context", {"chunk_id": None}, "`chunk_id` is missing"),
        ("set_output_compression", {}, "`level` is missing"),
        ("set_output_compression", {"level": "turbo"}, "'turbo'.*`off`.*`max`"),
        ("record_decision", {}, "`text` is missing"),
        ("record_decision", {"text": "a", "tags": [1]}, "`tags` is 1"),
        ("session_recall", {}, "`query` is missing"),
        ("summarize_context", {"scope": "both"}, "'both'.*`all`.*`decisions`"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(
    name: str, given: dict[str, Any], told: str, state: ServerState
) -> None:
    text, failed = call(state, name, given)
    assert failed
    assert re.search(told, text), text


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("index_status", {}),
        ("expand_chunk", {"chunk_id": "0123456789abcdef"}),
        ("related_context", {"chunk_id": "0123456789abcdef", "unknown": 1}),
    ],
)
def test_a_project_without_an_index_is_told_how_to_get_one(
    name: str, given: dict[str, Any], state: ServerState
) -> None:
    text, failed = call(state, name, given)
    assert not failed
    assert "not indexed" in text
    assert str(state.directory) in text
    assert "Run `vera-ccc call ccc_init`, then `vera-ccc index`" in text
    assert not (state.directory / ".cce").exists()


def test_a_search_without_an_index_is_by_words_and_its_chunks_can_be_expanded(
    state: ServerState,
) -> None:
    source = "def throttle(request):\n    return limit(request)\n"
    write_file(state.directory / "limits.py", source)
    before = sorted(state.directory.rglob("*"))
    text, failed = call(state, "context_search", {"query": "where are requests throttled"})
    lead, empty, head = text.split("\n")[:3]
    assert not failed
    assert lead.startswith(f"This project is not indexed yet: {state.directory}. CocoIndex Code")
    assert lead.endswith("These results are by words, not by meaning.")
    assert (empty, head.split(" #")[0]) == (
        "",
        " 1. [by words] limits.py:1-2 (function/function_definition)",
    )
    chunk_id = head.split("#")[1]
    assert call(state, "expand_chunk", {"chunk_id": chunk_id}) == (source.rstrip("\n"), False)
    nothing, _ = call(state, "context_search", {"query": "zebra"})
    assert "\n\nNo matching code found. — try broader or different terms.\n" in nothing
    assert sorted(state.directory.rglob("*")) == before


def test_an_argument_that_there_is_not_is_named_and_the_rest_is_done(state: ServerState) -> None:
    text, failed = call(state, "session_recall", {"query": "x", "limit": 3})
    assert not failed
    assert text.startswith("No confident memory match")
    assert text.endswith("\n\nNote: there is no argument 'limit'; the arguments are: query, top_k.")


@pytest.mark.parametrize("given", [{"top_k": "many"}, {"top_k": 2.5}])
def test_a_wrong_number_is_answered_with_the_range_that_makes_sense(
    state: ServerState, given: dict[str, Any]
) -> None:
    text, failed = call(state, "session_recall", {"query": "x", **given})
    assert failed
    assert re.search(r"it has to be a whole number from 1 to \d+\.", text)


def test_memory_and_the_digest_need_no_index(state: ServerState) -> None:
    text = "Passwords are hashed only in auth.hash_password (SHA-256 + salt); never hash inline."
    given = {"text": text, "tags": ["security", "auth"], "area": "auth"}
    told = "decision #46f3ebd005279048. Retrieve it later with session_recall."
    assert call(state, "session_recall", {"query": "passwords"})[0] == (
        "No confident memory match (0 remembered decision(s) searched). "
        "Nothing recalled — proceed without memory."
    )
    assert call(state, "record_decision", given) == (f"Recorded {told}", False)
    assert call(state, "record_decision", given) == (f"Already recorded {told}", False)
    recalled, failed = call(
        state, "session_recall", {"query": "how are passwords hashed", "top_k": -1}
    )
    assert not failed
    assert recalled == (
        "Recalled 1 of 1 remembered decision(s):\n\n"
        " 1. [0.851650] #46f3ebd005279048 area=auth tags=security,auth\n"
        f"{text}\n\n"
        "These are validated decisions you MAY reuse — apply only what fits; they are not "
        "auto-injected."
    )
    assert call(state, "summarize_context", {})[0] == (
        "CCE session digest\nfiles (0):\nchunks (0):\nqueries (0):\ndecisions (1):\n"
        "- #46f3ebd005279048 Passwords are hashed only in auth.hash_password (SHA-256 + s…"
    )


def test_what_a_decision_is_filed_under_stays_on_its_line(state: ServerState) -> None:
    given = {"text": "Uploads are retried.", "area": "a\nb", "tags": ["c\n 2. [1.000000] #forged"]}
    call(state, "record_decision", given)
    recalled, _ = call(state, "session_recall", {"query": "uploads"})
    _, head, text, *_ = filter(None, recalled.split("\n"))
    assert head.endswith(" area=a b tags=c  2. [1.000000] #forged")
    assert text == given["text"]


def test_long_decisions_are_cut_to_what_an_answer_holds_and_one_alone_is_whole(
    state: ServerState,
) -> None:
    longest, tags = "é" * remember.MAX_TEXT, [f"{n}".rjust(50, "t") for n in range(50)]
    for n in range(remember.MOST_RECALLED):
        text = f"retry {n} {longest}"[: remember.MAX_TEXT]
        assert not call(state, "record_decision", {"text": text, "tags": tags})[1]
    text, _ = call(state, "session_recall", {"query": "retry", "top_k": 50})
    assert text.startswith("Recalled 50 of 50 ")
    assert len(text.encode()) <= output.MAX_BYTES
    assert text.count("… (cut to fit beside the others: recall it with top_k=1)\n") == 50
    alone, _ = call(state, "session_recall", {"query": "retry", "top_k": 1})
    assert len(alone.split("\n")[3]) == remember.MAX_TEXT


def test_an_optional_text_that_is_empty_is_none(state: ServerState) -> None:
    given = {"text": "Uploads are retried.", "area": " ", "tags": []}
    assert not call(state, "record_decision", given)[1]
    assert not call(state, "record_feedback", {"query_id": "a", "helpful": True, "note": ""})[1]
    (decision,) = state.memory.decisions()
    assert (decision.area, decision.tags) == (None, ())


def test_memory_that_is_turned_off_says_so_and_writes_nothing(state: ServerState) -> None:
    (state.directory / ".cce").mkdir()
    (state.directory / ".cce" / "config").write_text("memory:\n  enabled: false\n")
    for name, given in (
        ("record_decision", {"text": "a decision"}),
        ("session_recall", {"query": "a decision"}),
    ):
        text, failed = call(state, name, given)
        assert not failed
        assert "memory.enabled=false in .cce/config" in text
    assert not (state.directory / ".cce" / "memory.jsonl").exists()


def test_the_level_of_terseness_is_kept_for_the_session_only(state: ServerState) -> None:
    text, failed = call(state, "set_output_compression", {"level": "max"})
    assert text == (
        "Output compression is now `max` for this session (in-memory; CLAUDE.md unchanged)."
    )
    assert not failed
    assert state.level == "max"
    assert list(state.directory.iterdir()) == []


def test_feedback_is_logged_also_for_an_id_that_no_search_had(state: ServerState) -> None:
    text, failed = call(state, "record_feedback", {"query_id": "8c74824599a7", "helpful": False})
    assert not failed
    assert text.startswith("Recorded feedback (not helpful) for 8c74824599a7 in ")
    assert "unknown query_id" in text
    (entry,) = state.metrics.read().entries
    assert entry["target_id"] == "8c74824599a7"
    assert entry["helpful"] is False


def test_a_failure_says_what_can_be_done_here(state: ServerState) -> None:
    failure = Failure("ccc_failed", "It failed.", Step(Do.RETRY_OR_DOCTOR))
    answer = state.told(failure)
    assert answer.failed
    assert answer.text == ("It failed.\nTry again; if it happens again, run `vera-ccc doctor`.")
