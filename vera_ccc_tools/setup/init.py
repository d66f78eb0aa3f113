"""Set a project up for an agent, and undo that: the verb ``init``.

All files are read and planned first, and written only then: when one is refused, none is touched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from vera_ccc_tools.boot import environments
from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.places import Places
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.git.git import Git, GitMissing, NotAWorkTree
from vera_ccc_tools.setup import blocks, guidance, json_edit, launch, terseness, toml_edit
from vera_ccc_tools.setup.agents import AGENTS, SERVER, Agent
from vera_ccc_tools.setup.changes import Change, ProjectFiles, apply
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.locks import held

LOCK_SECONDS = 30.0
"""How long to wait for another init, which holds its lock for some milliseconds."""
IGNORE = ".gitignore"
IGNORED = "# Local files of the CCE MCP server\n.cce/*"
"""What git ignores: the contract's line under a line that says whose it is."""
_PROBE = b".cce/memory.jsonl"
_BYTES = "latin-1"  # any bytes come back as they were: names in an ignore file have no encoding


@dataclass(frozen=True, slots=True)
class Report:
    """What was done in *directory* for the agent *agent*, and what is left to do."""

    agent: Agent
    directory: Path
    changes: tuple[Change, ...]
    next: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        files = [{"path": change.path, "action": change.action} for change in self.changes]
        return {
            "agent": self.agent.name,
            "directory": str(self.directory),
            "files": files,
            "next": list(self.next),
        }

    def render(self) -> str:
        lines = [f"{change.action:<9}  {change.path}" for change in self.changes]
        return "\n".join([*(lines or ["Nothing of ours is here."]), *self.next])


def set_up(directory: Path, name: str, level: str = terseness.DEFAULT) -> Report:
    """Write the server's entry for the agent *name*, the block in its instructions, git's rule.

    The block asks for answers as terse as *level* says.

    The server is started once before: what it needs is installed now rather than by the agent,
    which would not wait for it.

    Raises:
        Failure: a file is refused, or cannot be written, or the server does not start; all files
            are as they were.
    """
    _check_home(directory)
    agent = AGENTS[name]
    start = launch.find()
    entry = agent.entry(start.command, start.args, directory)
    _check_words([entry["command"], *entry["args"]])
    planned = list(_planned(ProjectFiles(directory), agent, entry, level))
    if any(change.differs for change in planned):
        launch.check(start, directory)
        with _exclusive():
            planned = list(_planned(ProjectFiles(directory), agent, entry, level))
            apply(directory, planned)
    return Report(agent, directory, tuple(planned), tuple(_next(directory, agent, start, level)))


def take_out(directory: Path, name: str) -> Report:
    """Take out what `set_up` puts in, but for what another agent that is set up needs too.

    Raises:
        Failure: as `set_up` does.
    """
    agent = AGENTS[name]
    with _exclusive():
        planned = list(_removal(ProjectFiles(directory), agent))
        apply(directory, planned)
    return Report(agent, directory, tuple(planned), ())


# --- plans ------------------------------------------------------------------------------------


def _planned(
    files: ProjectFiles, agent: Agent, entry: json_edit.Entry, level: str
) -> Iterator[Change]:
    """The agent's configuration and instructions, and git's ignore file, as they should be."""
    text = files.text(agent.config)
    yield files.change(agent.config, _form(agent).put(text, _place(agent), entry))
    name = _instructions(files, agent)
    text = files.text(name)
    body = guidance.block(terseness.rules(level))
    span = None if text is None else blocks.find_marked(text, guidance.BEGIN, guidance.END, name)
    if text is None or span is None:
        yield files.change(name, blocks.append(text, body, gap=True))
    else:
        yield files.change(name, blocks.replace(text, span, body))
    if _lacks_rule(files.directory):
        data = files.data(IGNORE)
        text = None if data is None else data.decode(_BYTES)
        if text is None or blocks.find_lines(text, IGNORED) is None:
            text = blocks.append(text, IGNORED, gap=False)
        yield Change(IGNORE, data, text.encode(_BYTES))


def _removal(files: ProjectFiles, agent: Agent) -> Iterator[Change]:
    """The files that are there, without what is ours; what another agent needs stays."""
    text = files.text(agent.config)
    if text is not None:
        yield files.change(agent.config, _form(agent).remove(text, _place(agent)))
    others = [other for other in AGENTS.values() if _keeps(files, other, agent)]
    names = [_instructions(files, other) for other in others]
    done = {files.identity(name) for name in names if files.data(name) is not None}
    for name in agent.instructions:
        text = files.text(name)
        if text is None or files.identity(name) in done:
            continue
        done.add(files.identity(name))
        span = blocks.find_marked(text, guidance.BEGIN, guidance.END, name)
        if span is not None:
            yield files.change(name, blocks.cut(text, span, gap=True))
    if not others:
        data = files.data(IGNORE)
        text = (data or b"").decode(_BYTES)
        span = blocks.find_lines(text, IGNORED)
        if span is not None:
            rest = blocks.cut(text, span, gap=False)
            yield Change(IGNORE, data, None if rest is None else rest.encode(_BYTES))


def _form(agent: Agent) -> ModuleType:
    return toml_edit if agent.form == "toml" else json_edit


def _place(
    agent: Agent, is_ours: Callable[[json_edit.Entry], bool] = launch.is_ours
) -> json_edit.Place:
    return json_edit.Place(agent.config, agent.servers, SERVER, agent.comments, is_ours)


def _instructions(files: ProjectFiles, agent: Agent) -> str:
    """The file that the agent takes instructions from, or the one to make."""
    there = (name for name in agent.instructions if files.text(name) is not None)
    return next(there, agent.default)


def _keeps(files: ProjectFiles, agent: Agent, going: Agent) -> bool:
    """Whether the agent has a server of our name when our entry for *going* is out.

    Of another engine, even, since the block and the rule serve both. A configuration that cannot
    be read may hold one.
    """
    place = _place(agent, lambda entry: agent is not going or not launch.is_ours(entry))
    try:
        text = files.text(agent.config)
        return text is not None and bool(_form(agent).holds(text, place))
    except Failure:
        return True


@contextmanager
def _exclusive() -> Iterator[None]:
    """Keep other inits of this user away while files are read, planned and written."""
    path = environments.cache_directory() / "init.lock"
    with suppress(OSError):  # where there is no place for the lock it goes on without
        path.parent.mkdir(parents=True, exist_ok=True)
    with held(path, LOCK_SECONDS) as mine:
        if not mine:
            raise Failure(
                "init_locked",
                f"Another init has held {shorten(str(path))} for {LOCK_SECONDS:g} s.",
                "Try again when it is done.",
            )
        yield


# --- around it --------------------------------------------------------------------------------


def _check_home(directory: Path) -> None:
    if directory == Path(os.path.realpath(environments.home())):
        raise Failure(
            "home_directory",
            f"{shorten(str(directory))} is your home directory, where agents keep what is for all "
            "projects.",
            "Run init in a project, or name one with --dir.",
        )


def _check_words(words: Iterable[str]) -> None:
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise Failure(
                "path_not_utf8",
                f"The path {shorten(word)} is not UTF-8, so no configuration can name it.",
                "Rename the directory.",
            ) from error


def _lacks_rule(directory: Path) -> bool:
    """Whether git would take the server's files for the project's."""
    try:
        return not Git.find(Environment()).rules(directory, [_PROBE])
    except (GitMissing, NotAWorkTree):
        return False


def _next(directory: Path, agent: Agent, start: launch.Launch, level: str) -> Iterable[str]:
    repository = project.find_repository(directory)
    if repository is not None and repository != directory:
        above = start.line("init", "--agent", agent.name, "--dir", str(repository))
        yield (
            f"{directory} lies in the repository {repository}; agents that are started at its root "
            f"read the files there: for these, run {above}"
        )
    yield agent.next
    if level != "off":
        off = start.line("init", "--agent", agent.name, "--dir", str(directory), "--terse", "off")
        yield f"The agent is asked for terse answers (`{level}`); not so after: {off}"
    root = project.find_root(directory)
    if root is None or not Places(Environment()).is_indexed(root):
        command = start.line("index", "--cwd", str(directory))
        yield f"This project has no index yet; make one with: {command}"
