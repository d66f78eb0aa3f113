"""What to do next, in the words of its reader: one sentence a step, one vocabulary a front.

A model in Pi has the four tools and its own ``rg``; a person in Pi has the ``/ccc`` commands; an
agent behind MCP and a person at a terminal have the command line. None of them is sent to plain
``ccc index``: it asks no git, and sends what git ignores to the embedding service.
"""

from __future__ import annotations

from vera_ccc_tools.boot import invocation
from vera_ccc_tools.errors import Do, Failure, Front, Step

_FORCED = """`vera-ccc call ccc_init '{"force": true}'`"""
_WITH_MODEL = """`vera-ccc call ccc_init '{"litellm_model": "PROVIDER/NAME"}'`"""

_VOCABULARY: dict[Front, dict[str, str]] = {
    Front.MODEL: {
        "call": "call",
        "ask": "ask the user to ",
        "sure": "ask the user; ",
        "terminal": " in a terminal",
        "meanwhile": "; use rg meanwhile",
        "or_rg": ", or use rg for exact text",
        "index": "ccc_index",
        "init_in": "ask the user to start the agent in",
        "index_in": "to start the agent in",
        "init": "ccc_init",
        "forced": "ccc_init with `force`",
        "with_model": "ccc_init with `litellm_model` (the user's choice)",
        "search": "ccc_search",
        "doctor": "ccc_doctor",
        "verbose": "ccc_doctor with `verbose`",
        "status": "the ccc-status section of the next turn",
        "go_on": "go on with offset {needs}",
    },
    Front.PERSON: {
        "call": "use",
        "ask": "",
        "sure": "",
        "terminal": " in a terminal",
        "meanwhile": "",
        "or_rg": "",
        "index": "/ccc-index",
        "init_in": "start the agent in",
        "index_in": "start the agent in",
        "init": "/ccc-init",
        "forced": "/ccc-init force",
        "with_model": "/ccc-init MODEL",
        "search": "/ccc-search",
        "doctor": "/ccc-doctor",
        "verbose": "/ccc-doctor verbose",
        "status": "/ccc",
        "go_on": "/ccc-search more",
    },
    Front.MCP: {
        "call": "run",
        "ask": "ask the user to ",
        "sure": "ask the user; ",
        "terminal": " in a terminal",
        "meanwhile": "",
        "or_rg": "",
        "index": "`vera-ccc index`",
        "init_in": "run `vera-ccc call ccc_init` in",
        "index_in": "run `vera-ccc index` in",
        "init": "`vera-ccc call ccc_init`",
        "forced": _FORCED,
        "with_model": _WITH_MODEL,
        "search": "context_search",
        "doctor": "`vera-ccc doctor`",
        "verbose": "`vera-ccc doctor --verbose`",
        "status": "index_status",
        "go_on": "go on with offset {needs}",
    },
    Front.TERMINAL: {
        "call": "run",
        "ask": "",
        "sure": "",
        "terminal": "",
        "meanwhile": "",
        "or_rg": "",
        "index": "`vera-ccc index`",
        "init_in": "run `vera-ccc call ccc_init` in",
        "index_in": "run `vera-ccc index` in",
        "init": "`vera-ccc call ccc_init`",
        "forced": _FORCED,
        "with_model": _WITH_MODEL,
        "search": "`vera-ccc search`",
        "doctor": "`vera-ccc doctor`",
        "verbose": "`vera-ccc doctor --verbose`",
        "status": "`vera-ccc status`",
        "go_on": "go on with --offset {needs}",
    },
}

_RESTART = "{ask}run `ccc daemon restart`{terminal}"
_TO_ONE_DIRECTORY = "{forced} to make a project of this directory alone"

_SENTENCES: dict[Do, str] = {
    Do.INDEX: "{call} {index}, which builds the index{meanwhile}.",
    Do.INDEX_REPOSITORY: (
        "{call} {index}, which makes a project of the git repository {needs} and indexes it"
        "{meanwhile}."
    ),
    Do.INIT: ("{call} {init}, then {index}, if this directory is to be indexed{meanwhile}."),
    Do.INIT_FORCED: "Search it as it is, or {call} " + _TO_ONE_DIRECTORY + ".",
    Do.INDEX_OR_INIT_FORCED: (
        "{call} {index}, which makes that repository a project and indexes all of it, or "
        + _TO_ONE_DIRECTORY
        + "."
    ),
    Do.INIT_ELSEWHERE: (
        "{init_in} the directory of a project. If all of {needs} is to be indexed, {ask}run "
        "`ccc init` there{terminal}."
    ),
    Do.CHOOSE_MODEL: (
        "{call} {with_model}, or {ask}run `ccc init` once{terminal}, which asks for the model."
    ),
    Do.KEEP_MODEL: "leave the model out, or {ask}edit that file.",
    Do.CORRECT_MODEL: (
        "{ask}correct {needs} (the model, or its key in `envs`), then {call} {doctor}, which tests "
        "the model."
    ),
    Do.CORRECT_KEY: "{ask}correct `envs` in ccc's global settings, then {call} {doctor}.",
    Do.START_SERVICE: (
        "{ask}start the embedding service, or correct ccc's global settings; {doctor} tests the "
        "model{meanwhile}."
    ),
    Do.DOCTOR: "{call} {doctor}, which looks for the cause{meanwhile}.",
    Do.DOCTOR_VERBOSE: "these are ccc's words; its report below and {verbose} say more.",
    Do.RETRY_OR_DOCTOR: "try again; if it happens again, {call} {doctor}.",
    Do.RESTART_DAEMON: _RESTART + ", then try again.",
    Do.WAIT_OR_RESTART: (
        "if it stays so, " + _RESTART + "; {needs} sets the limit in seconds{meanwhile}."
    ),
    Do.LATER: "search again later; {status} says when it is ready{meanwhile}.",
    Do.LATER_OR_RESTART: "search again later{meanwhile}. If it stays so, " + _RESTART + ".",
    Do.SOON: "try again in a few seconds{meanwhile}.",
    Do.FOLLOW: "see {status} for how it goes{meanwhile}.",
    Do.SEARCH: "{call} {search}.",
    Do.REPHRASE: "describe what the code does rather than its name{or_rg}.",
    Do.GO_ON: "{go_on}",
    Do.INSTALL_CCC: (
        "{ask}install it with `pipx install 'cocoindex-code[embeddings-local]'`, or with uv, then "
        "run `ccc init` once{terminal}, which asks for the model{meanwhile}."
    ),
    Do.MAKE_ROOM: "{ask}make room on the disk{meanwhile}.",
    Do.MAKE_WRITABLE: "{ask}make that directory writable{meanwhile}.",
    Do.RENAME: (
        "{ask}rename it (`find . -print0 | grep -zavx '.*'` lists such names), or exclude its "
        "directory in .cocoindex_code/settings.yml."
    ),
    Do.EXCLUDE_MORE: (
        "{ask}exclude generated or vendored directories in .cocoindex_code/settings.yml, then "
        "build the index anew."
    ),
    Do.REMOVE_HOME_PROJECT: "{ask}remove {needs}, then {call} {index}.",
    Do.REMOVE_HOME_PROJECT_AND_LEAVE: "{ask}remove {needs}, then {index_in} a git repository.",
    Do.FORCE: "{sure}if all of {needs} is really to be indexed, {call} {forced}.",
    Do.REBUILD: (
        "{ask}set the former model in ccc's global settings again, or run `ccc reset -f` in the "
        "project{terminal}; then {call} {index}, which builds the index anew."
    ),
    Do.NO_PROXY: (
        "{ask}add {needs} to NO_PROXY and run `ccc daemon restart`{terminal}, then try again."
    ),
    Do.TURN_SYNC_OFF: (
        "searches work meanwhile, with the exclusions as they were; {needs}=0 turns the sync off."
    ),
}


def say(step: Step | str, front: Front) -> str:
    """What *step* asks of who reads at *front*; a plain text is the same for all."""
    if isinstance(step, str):
        return step
    words = _VOCABULARY[front]
    sentence = _SENTENCES[step.do].format(**words, needs="{needs}").replace("{needs}", step.needs)
    if step.do is not Do.GO_ON:  # it stands inside a sentence
        sentence = sentence[0].upper() + sentence[1:]
    return invocation.in_place(sentence)


def named(tool: str, front: Front) -> str:
    """One of the four tools, as who reads at *front* calls it."""
    return _VOCABULARY[front].get(tool.removeprefix("ccc_"), tool)


def tell(failure: Failure, front: Front) -> str:
    """A failure in full: what failed, and on a line of its own what to do."""
    step = say(failure.step, front)
    return f"{failure.message}\n{step}" if step else failure.message
