"""``index_status``: is there an index, what does it hold, is it up to date."""

from __future__ import annotations

from vera_ccc_tools import output, project
from vera_ccc_tools.arguments import Reader
from vera_ccc_tools.calls import Answer, Call
from vera_ccc_tools.ccc import Status
from vera_ccc_tools.context.state import UNINDEXED, State
from vera_ccc_tools.errors import Failure


def index_status(state: State, call: Call, _arguments: Reader) -> Answer:
    """Report the index of the project; one that does not exist is a normal answer too."""
    try:
        root = state.session.indexed_root(call.cwd)
    except Failure as failure:
        if failure.code not in UNINDEXED:
            raise
        return Answer(f"not indexed — {state.told(failure).text}")
    synced = state.session.sync(root, call, always=False)
    status = state.session.ccc().status(root, cancel=call.cancel)
    lines = [
        "Index status",
        f"  store   : {output.clean_line(str(project.index_path(root, state.session.environ)))}",
        "  indexed : yes",
        f"  chunks  : {status.chunks}",
        f"  files   : {status.files}",
        "  by language:",
        *(f"    {name:<12}: {count}" for name, count in status.languages),
        f"  source  : local ({_source(status)})",
        f"  fresh   : {_freshness(status)}",
        *(f"  note    : {output.clean_line(note)}" for note in synced.notes),
    ]
    return Answer("\n".join(lines))


def _source(_status: Status) -> str:
    return "built by ccc on this machine"


def _freshness(status: Status) -> str:
    if status.progress is None:
        return "context_search brings it up to date before it answers"
    done = output.counted(status.progress.done, "file")
    return f"being brought up to date now, {done} done so far"
