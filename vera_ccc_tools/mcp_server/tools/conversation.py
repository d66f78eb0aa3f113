"""The tools about the conversation itself: feedback, how terse it is, what was done in it."""

from __future__ import annotations

from vera_ccc_tools.mcp_server.ledger import SCOPES
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.setup import terseness
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import (
    Reader,
    optional,
    required,
    required_choice,
    required_flag,
)

LEVELS = terseness.LEVELS
DIGEST_SCOPES = tuple(SCOPES)
MAX_NOTE = 2000
_UNKNOWN = "It is an unknown query_id: no search of this session, nor of the log's end, has it."


def record_feedback(state: ServerState, _call: Call, arguments: Reader) -> Answer:
    """Log whether a search helped, also one that is not known: its log may be gone."""
    query_id = required(arguments, "query_id", 100, "Take it from a context_search result.")
    helpful = required_flag(arguments, "helpful")
    note = optional(arguments, "note", MAX_NOTE)
    is_known = state.metrics.knows(query_id)
    state.metrics.feedback(query_id, helpful, note)
    verdict = "helpful" if helpful else "not helpful"
    told = f"Recorded feedback ({verdict}) for {query_id} in .cce/metrics.jsonl."
    return Answer(told if is_known else f"{told} {_UNKNOWN}")


def set_output_compression(state: ServerState, _call: Call, arguments: Reader) -> Answer:
    """Set the level of this session, and say what it asks for."""
    level = required_choice(arguments, "level", LEVELS)
    state.level = level
    return Answer(terseness.answer(level))


def summarize_context(state: ServerState, _call: Call, arguments: Reader) -> Answer:
    """The ledger of this session."""
    return Answer(state.ledger.digest(arguments.choice("scope", DIGEST_SCOPES)))
