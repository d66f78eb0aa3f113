"""The table of the four tools: what Pi registers, what the README shows, what the worker runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.errors import Failure, Front, InvalidArgument, shorten
from vera_ccc_tools.phrases import tell
from vera_ccc_tools.system import text
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import arguments, doctor, index, search
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import (
    DoctorArguments,
    IndexArguments,
    InitArguments,
    SearchArguments,
)
from vera_ccc_tools.tools.session import Session

Do = Callable[[Session, Call, Any], Answer]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: What a model calls it.
        label: What a person sees.
        description: For the model: what it does, when to use it, and when not.
        snippet: One line for the system prompt's list of tools; does not repeat the name.
        guidelines: Rules for the system prompt; each names its tool.
        arguments: What describes its arguments; see `arguments.py`.
        do: Does it.
    """

    name: str
    label: str
    description: str
    snippet: str
    guidelines: tuple[str, ...]
    arguments: type[Any]
    do: Do

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return arguments.schema(self.arguments)

    def run(self, session: Session, call: Call, given: Mapping[str, Any]) -> Answer:
        """Do it with the arguments in *given*, a JSON object.

        Raises:
            Failure: An argument is wrong, or what the tool raises.
        """
        return self.do(session, call, arguments.read(self.arguments, given))

    def to_json(self) -> dict[str, Any]:
        """The tool as `tools/list` and ``extension/tools.json`` show it."""
        return {
            "name": self.name,
            "label": self.label,
            "description": self.description,
            "promptSnippet": self.snippet,
            "promptGuidelines": list(self.guidelines),
            "inputSchema": self.schema,
        }


TOOLS = (
    Tool(
        name="ccc_search",
        label="Semantic code search",
        description=(
            "Search the project's code by meaning, across all files. Describe behaviour or intent "
            '("where are uploads retried", "parse the config file"), not only names. Gives the '
            "best chunks as `path:start-end [language] score` and their lines verbatim; paths are "
            "relative to the working directory, ready for read. The index is brought up to date "
            "first; without one, the words of the query are looked for. For exact text or a known "
            "symbol use rg, for file names fd, for a known file read. Output: at most 50 KB or "
            "2000 lines, whole results only; what is left out is named with the offset to go on "
            "with."
        ),
        snippet="Search code by meaning: find where and how something is done",
        guidelines=(
            (
                "Use ccc_search first for questions such as where or how something is done, when "
                "the exact words in the code are unknown; use rg for exact text, fd for file "
                "names and read for known files."
            ),
            (
                "Narrow ccc_search with path and languages, and go on with offset, rather than "
                "repeating the same query."
            ),
        ),
        arguments=SearchArguments,
        do=search.search,
    ),
    Tool(
        name="ccc_index",
        label="Build the code index",
        description=(
            "Build the index that ccc_search needs, or bring it up to date. Initializes the git "
            "repository for ccc first where that has not been done. ccc_search refreshes the "
            "index by itself, so this is needed once in a project, and after large changes only "
            "to have the wait at a chosen time. With background it answers at once, and the "
            "ccc-status section shows how it goes."
        ),
        snippet="Build or refresh the semantic index of this project",
        guidelines=(
            (
                "Call ccc_index once when ccc-status says that there is no index; with background "
                "in a large repository, using rg until it is done."
            ),
        ),
        arguments=IndexArguments,
        do=index.index,
    ),
    Tool(
        name="ccc_init",
        label="Initialize for code search",
        description=(
            "Make the working directory a ccc project: writes .cocoindex_code/settings.yml and "
            "adds that directory to .gitignore. In a git repository ccc_index does it as well. "
            "The first time on a machine it needs the user's choice of an embedding model."
        ),
        snippet="Set this directory up for semantic code search",
        guidelines=(
            (
                "Call ccc_init only to make a project of a directory that ccc_index would not "
                "choose, or to set the embedding model, which the user must name."
            ),
        ),
        arguments=InitArguments,
        do=index.init,
    ),
    Tool(
        name="ccc_doctor",
        label="Diagnose code search",
        description=(
            "Find out why semantic search does not work: checks ccc, its Python, git, the "
            "settings, the project, the ignore rules, the daemon and the embedding model, and "
            "says what to do about the first problem."
        ),
        snippet="Find out why semantic search does not work",
        guidelines=(
            (
                "Call ccc_doctor when ccc_search or ccc_index fails and the message does not say "
                "what to do."
            ),
        ),
        arguments=DoctorArguments,
        do=doctor.doctor,
    ),
)


def listing() -> dict[str, Any]:
    """The result of `tools/list`."""
    return {"tools": [tool.to_json() for tool in TOOLS]}


def call_tool(session: Session, name: str, given: object, call: Call) -> dict[str, Any]:
    """Run a tool; the result of `tools/call`, failures that a user can meet included.

    Raises:
        Cancelled: Nothing else.
    """
    call.cancel.check()
    try:
        answer = _tool(name).run(session, call, _object(given))
    except Failure as failure:
        return failed(failure, call.front)
    return _result(answer)


def failed(failure: Failure, front: Front) -> dict[str, Any]:
    """A failure as the result of `tools/call`."""
    return _result(Answer(tell(failure, front), {"code": failure.code}, failed=True))


def _tool(name: str) -> Tool:
    for tool in TOOLS:
        if tool.name == name:
            return tool
    names = ", ".join(tool.name for tool in TOOLS)
    raise InvalidArgument(f"There is no tool {shorten(name)}.", f"The tools are: {names}.")


def _object(given: object) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidArgument(f"The arguments are {shorten(given)}; they have to be an object.")
    return given


def _result(answer: Answer) -> dict[str, Any]:
    return {
        # A directory's name, which a message quotes, may hold what a file's content may.
        "content": [{"type": "text", "text": text.fit(text.clean(answer.text))}],
        "isError": answer.failed,
        "details": dict(answer.details),
    }
