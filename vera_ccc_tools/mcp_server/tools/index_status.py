"""``index_status``: is there an index, what does it hold, how fresh is it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from vera_ccc_tools.ccc.client import Status
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.import_graph import graph
from vera_ccc_tools.mcp_server.state import UNINDEXED, ServerState
from vera_ccc_tools.system import text
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import Reader


def index_status(state: ServerState, call: Call, _arguments: Reader) -> Answer:
    """Report the index of the project; one that does not exist is a normal answer too."""
    try:
        root = state.session.indexed_root(call.cwd)
    except Failure as failure:
        if failure.code not in UNINDEXED:
            raise
        return Answer(f"not indexed — {state.told(failure).text}")
    synced = state.session.sync(root, call, always=False)
    status = state.session.ccc().status(root, cancel=call.cancel)
    store = state.session.places.index(root)
    lines = [
        "Index status",
        f"  store   : {text.clean_line(str(store))}",
        "  indexed : yes",
        f"  chunks  : {status.chunks}",
        f"  files   : {status.files}",
        "  by language:",
        *(f"    {name:<12}: {count}" for name, count in status.languages),
        "  source  : local (built by ccc on this machine)",
        f"  updated : {_updated(store)}",
        f"  fresh   : {_fresh(status)}",
        f"  imports : {_imports(state.graph(root).state())}",
        *(f"  note    : {text.clean_line(note)}" for note in synced.notes),
    ]
    return Answer("\n".join(lines))


def _updated(store: Path) -> str:
    try:
        seconds = store.stat().st_mtime
    except OSError:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _fresh(status: Status) -> str:
    if status.progress is None:
        return "yes — context_search brings it up to date before it answers"
    done = text.counted(status.progress.done, "file")
    return f"being brought up to date now, {done} done so far"


def _imports(known: graph.GraphState) -> str:
    if known.ready:
        edges = text.counted(known.edges, "import")
        return f"{edges} among {text.counted(known.files, 'source file')}"
    return "being built" if known.building else known.problem or "built at the next search"
