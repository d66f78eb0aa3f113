"""``record_decision`` and ``session_recall``."""

from __future__ import annotations

from vera_ccc_tools.chunks import detail
from vera_ccc_tools.chunks.chunk import BYTES_A_TOKEN
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.memory import recall
from vera_ccc_tools.memory.recall import Recalled
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.text import MAX_BYTES, clean_line
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import Reader, count, optional, required

TOP_K = 5
MOST_RECALLED = 50
MAX_TEXT = 10_000
MAX_AREA = 200
ROOM = MAX_BYTES - 4096
"""Bytes of all recalled decisions; they share it evenly."""
MAX_HEAD = 400
"""Bytes of the line before a decision: its area and up to fifty tags would fill a page."""
_CUT = "… (cut to fit beside the others: recall it with top_k=1)"
_DISABLED = Answer(
    "Memory is disabled for this project (memory.enabled=false in .cce/config). Set it to true to "
    "record and recall decisions."
)
_CHOICE = (
    "These are validated decisions you MAY reuse — apply only what fits; they are not "
    "auto-injected."
)


def record_decision(state: ServerState, _call: Call, arguments: Reader) -> Answer:
    """Keep a decision for later sessions."""
    text = required(arguments, "text", MAX_TEXT, "Say the decision in a sentence.")
    tags = tuple(tag.strip() for tag in arguments.words("tags"))
    area = optional(arguments, "area", MAX_AREA)
    if not state.config.memory_enabled:
        return _DISABLED
    recorded = state.memory.record(text, tags, area)
    state.ledger.decision(recorded.id, recorded.text)
    verb = "Recorded" if recorded.new else "Already recorded"
    return Answer(f"{verb} decision #{recorded.id}. Retrieve it later with session_recall.")


def session_recall(state: ServerState, _call: Call, arguments: Reader) -> Answer:
    """The decisions that fit a query, where any surely does."""
    query = required(arguments, "query", MAX_TEXT, "Say in `query` what to recall.")
    top_k = count(arguments, "top_k", TOP_K, MOST_RECALLED)
    if not state.config.memory_enabled:
        return _DISABLED
    decisions = state.memory.decisions()
    found = recall.recall(query, decisions, top_k)
    if not found:
        return Answer(
            f"No confident memory match ({len(decisions)} remembered decision(s) searched). "
            "Nothing recalled — proceed without memory."
        )
    room = ROOM // len(found)
    blocks = [_block(rank, each, room) for rank, each in enumerate(found, 1)]
    head = f"Recalled {len(found)} of {len(decisions)} remembered decision(s):"
    return Answer("\n\n".join([head, *blocks, _CHOICE]))


def _block(rank: int, recalled: Recalled, room: int) -> str:
    """A decision in *room* bytes; one that is alone is always whole, unless made by hand."""
    decision = recalled.decision
    area = "" if decision.area is None else f" area={decision.area}"
    tags = f" tags={','.join(decision.tags)}" if decision.tags else ""
    head = f"{rank:>2}. [{recalled.score:.6f}] #{decision.id}{area}{tags}"
    head = _within(clean_line(head), MAX_HEAD, "…")
    return f"{head}\n{_within(decision.text, room - MAX_HEAD, _CUT)}"


def _within(text: str, room: int, mark: str) -> str:
    cut, is_cut = detail.cut(text, (room - len(mark.encode())) // BYTES_A_TOKEN)
    return cut + mark if is_cut else text
