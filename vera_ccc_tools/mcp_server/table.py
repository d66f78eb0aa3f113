"""The table of the nine tools: what MCP lists, what the README shows, what the server runs.

Names, schemas and order are those of ``CCE``'s contract, so that an agent finds the same tools
whichever engine serves them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from vera_ccc_tools.chunks.detail import LEVELS
from vera_ccc_tools.errors import Failure, InvalidArgument, shorten
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.mcp_server.tools import conversation, expand, index_status, remember, search
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import Reader

Run = Callable[[ServerState, Call, Reader], Answer]


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool.

    Attributes:
        name: What a model calls it.
        title: What a person sees.
        description: For the model: what it does, when to use it, and what to use with it.
        properties: The JSON Schemas of its arguments, by name.
        required: The arguments that it cannot do without.
        run: Does it.
        writes: Whether it changes more than what this project makes by itself, such as the index.
        repeats: Whether a second call with the same arguments changes anything.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    run: Run
    writes: bool = False
    repeats: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": dict(self.properties)}
        return {**schema, "required": list(self.required)} if self.required else schema


_TEXT = {"type": "string"}
_TOP_K = {"type": "integer", "default": search.TOP_K}

TOOLS = (
    McpTool(
        name="context_search",
        title="Search code",
        description=(
            "Search THIS project's code by meaning, across files. Use it FIRST for any cross-file "
            'question ("where is X", "how does Y work", "what calls Z"), and whenever you cannot '
            "name the file to open. It gives whole functions, methods, classes and sections, best "
            "first, from an index that is brought up to date before. Skip it when you know the "
            "one file you need: read that. Results are COMPACT and each carries a chunk_id; to "
            "read a full body call expand_chunk(chunk_id) - do NOT re-issue context_search for a "
            "target you already found. Widen to import-graph neighbours with "
            "related_context(chunk_id)."
        ),
        properties={
            "query": _TEXT,
            "top_k": _TOP_K,
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
                "enum": list(LEVELS),
                "description": (
                    "chunk compression level (optional; default from config, usually compact)"
                ),
            },
            "source": {
                "type": "string",
                "enum": list(search.SOURCES),
                "description": (
                    "which pools to search (optional; default `both` when a knowledge store "
                    "exists, else `code`)"
                ),
            },
        },
        required=("query",),
        run=search.context_search,
    ),
    McpTool(
        name="index_status",
        title="State of the index",
        description="Check whether this project is indexed and how fresh it is.",
        properties={},
        required=(),
        run=index_status.index_status,
    ),
    McpTool(
        name="record_feedback",
        title="Rate a search",
        description=(
            "Record whether a prior context_search result was helpful: it is logged, for the "
            "quality signal."
        ),
        properties={"query_id": _TEXT, "helpful": {"type": "boolean"}, "note": _TEXT},
        required=("query_id", "helpful"),
        run=conversation.record_feedback,
        writes=True,
        repeats=True,
    ),
    McpTool(
        name="expand_chunk",
        title="Read a chunk",
        description=(
            "Read the FULL detail of a chunk that context_search already returned, by its "
            "chunk_id. Call it when a compact result is not enough - do NOT re-run context_search "
            "for a chunk you already have. scope=body gives the exact full body; scope=file every "
            "chunk of the same file; scope=neighbors a list of the chunks of the files that it "
            "imports and that import it, COMPACT, with chunk_ids of their own. A stale or unknown "
            "chunk_id gives a short message that says what to do."
        ),
        properties={
            "chunk_id": _TEXT,
            "scope": {"type": "string", "enum": list(expand.SCOPES), "default": "body"},
        },
        required=("chunk_id",),
        run=expand.expand_chunk,
    ),
    McpTool(
        name="related_context",
        title="Chunks around a chunk",
        description=(
            "Given a chunk_id from context_search, return the chunks connected to it through the "
            "import graph - both what it imports AND its consumers (reverse edges) - as compact "
            "entries with chunk_ids of their own. Use it to trace how a symbol is used, or what "
            "it depends on, across files, instead of reading whole neighbourhoods beforehand; "
            "expand any of them with expand_chunk(chunk_id)."
        ),
        properties={"chunk_id": _TEXT, "top_k": _TOP_K},
        required=("chunk_id",),
        run=expand.related_context,
    ),
    McpTool(
        name="set_output_compression",
        title="How terse to answer",
        description=(
            "Set how terse THIS session's answers should be: the output-compression level that "
            "you apply to your OWN replies. `off`: no rules; `lite`: no filler, preamble or "
            "postamble; `standard`: the fewest correct words, code as minimal diffs; `max`: "
            "telegraphic as well. Dial to `max` for terse diffs, or to `off` for full "
            "explanations, mid-session. It sets a preference of this session only: no file is "
            "rewritten, and it resets when the server restarts."
        ),
        properties={
            "level": {
                "type": "string",
                "enum": list(conversation.LEVELS),
                "description": "how terse THIS session's answers should be",
            }
        },
        required=("level",),
        run=conversation.set_output_compression,
        writes=True,
    ),
    McpTool(
        name="record_decision",
        title="Remember a decision",
        description=(
            "Remember a VALIDATED decision for future sessions: a note that you or the user have "
            "confirmed (an architecture choice, a convention, a settled trade-off), so that it "
            "need not be derived again. Secrets are redacted, and the same decision twice is a "
            "no-op with the same id. Do NOT record raw model output, guesses, or unverified "
            "answers - memory that replays a bad answer POLLUTES future context. tags and area "
            "help to find it with session_recall."
        ),
        properties={
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
        required=("text",),
        run=remember.record_decision,
        writes=True,
    ),
    McpTool(
        name="session_recall",
        title="Recall decisions",
        description=(
            "Search THIS project's remembered decisions (of record_decision) for ones relevant to "
            "the query. Hybrid vector + BM25 search, PRECISION-FILTERED: it returns only "
            "high-confidence matches (a small top_k), which you CHOOSE to use - it is never an "
            "auto-injected blob. Nothing returned is normal and correct: proceed without it "
            "rather than forcing a weak memory into context."
        ),
        properties={
            "query": _TEXT,
            "top_k": {"type": "integer", "default": remember.TOP_K},
        },
        required=("query",),
        run=remember.session_recall,
    ),
    McpTool(
        name="summarize_context",
        title="Digest of this session",
        description=(
            "Get a compact, deterministic digest of what THIS session has done so far: files and "
            "chunks touched, queries run, decisions recorded. It is a STRUCTURED digest of the "
            "server's own ledger, NOT an LLM-written summary: the same sequence of tool calls "
            "always yields the same bytes. Use it to compress a long session, or to hand it over."
        ),
        properties={
            "scope": {
                "type": "string",
                "enum": list(conversation.DIGEST_SCOPES),
                "default": "all",
            }
        },
        required=(),
        run=conversation.summarize_context,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def call(state: ServerState, name: str, given: Mapping[str, Any] | None, call: Call) -> Answer:
    """Run a tool; what a user can meet is answered as failed, but for a missing index.

    Raises:
        InvalidArgument: When there is no such tool.
        Cancelled: The client has cancelled the call.
    """
    tool = BY_NAME.get(name)
    if tool is None:
        names = ", ".join(BY_NAME)
        raise InvalidArgument(f"There is no tool {shorten(name)}.", f"The tools are: {names}.")
    given = given or {}
    try:
        answer = tool.run(state, call, Reader(given))
    except Failure as failure:
        answer = state.told(failure)
    unknown = [name for name in given if name not in tool.properties]
    if not unknown:
        return answer
    names = ", ".join(tool.properties) or "none"
    note = f"Note: there is no argument {shorten(unknown[0])}; the arguments are: {names}."
    return replace(answer, text=f"{answer.text}\n\n{note}")
