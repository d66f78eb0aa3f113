"""What the verbs of the command line do; `verbs.py` is the table of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from vera_ccc_tools.ccc import project
from vera_ccc_tools.cli.terminal import Live, Terminal
from vera_ccc_tools.errors import Do, Failure, Front, InvalidArgument, Step, shorten
from vera_ccc_tools.phrases import say
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled, Task
from vera_ccc_tools.tools.session import Session

LISTENING = 0.2
"""Seconds within which Ctrl-C is heard where a wait cannot be interrupted (Windows)."""
LAST_ORDERS = 5.0
"""Seconds that what is under way has to end after Ctrl-C."""


def search(options: argparse.Namespace) -> int:
    """Find code by meaning."""
    from vera_ccc_tools.tools.arguments import SearchArguments

    given = {each.name: getattr(options, each.name) for each in fields(SearchArguments)}
    given["query"] = " ".join(options.query)

    def show(text: str, details: Mapping[str, Any], terminal: Terminal) -> str:
        from vera_ccc_tools.cli import presentation

        return presentation.search(text, details, terminal)

    def with_content(text: str, details: Mapping[str, Any]) -> dict[str, Any]:
        from vera_ccc_tools.cli import presentation

        found, _ = presentation.results(text, details)
        return {**details, "results": [one.to_json() for one in found], "text": text}

    shown = _Shown(show, with_content, "Searching …")
    return _tool(options, "ccc_search", given, shown)


def index(options: argparse.Namespace) -> int:
    """Build the index, or bring it up to date."""

    def show(text: str, _details: Mapping[str, Any], terminal: Terminal) -> str:
        from vera_ccc_tools.cli import presentation

        return presentation.indexed(text, terminal)

    try:
        return _tool(options, "ccc_index", {}, _Shown(show, waiting="Indexing …"))
    except (Cancelled, KeyboardInterrupt):
        follow = say(Step(Do.FOLLOW), Front.TERMINAL)
        Terminal(sys.stderr).write(f"ccc's daemon goes on with the index run. {follow}\n")
        raise


def doctor(options: argparse.Namespace) -> int:
    """Check everything; what is found goes to standard output, good or bad."""

    def show(text: str, _details: Mapping[str, Any], terminal: Terminal) -> str:
        from vera_ccc_tools.cli import presentation

        return presentation.doctor(text, terminal)

    given = {"verbose": options.verbose}
    return _tool(options, "ccc_doctor", given, _Shown(show, waiting="Checking …"))


class _Shown:
    """How the result of a tool is shown: to people, and as JSON."""

    def __init__(
        self,
        show: Callable[[str, Mapping[str, Any], Terminal], str],
        to_json: Callable[[str, Mapping[str, Any]], dict[str, Any]] | None = None,
        waiting: str = "",
    ) -> None:
        self.show = show
        self.to_json = to_json or (lambda text, details: {**details, "text": text})
        self.waiting = waiting


def _tool(options: argparse.Namespace, name: str, given: Mapping[str, Any], shown: _Shown) -> int:
    """Call a tool and show what it gives.

    A failure is raised, but the result of a tool that failed at its own job is shown all the same.
    """
    from vera_ccc_tools.system.text import clean
    from vera_ccc_tools.tools.table import TOOLS

    tool = next(each for each in TOOLS if each.name == name)
    out, live = Terminal(sys.stdout), Live(Terminal(sys.stderr))
    if not options.json:
        live.hint(shown.waiting)
    try:
        progress = _silence if options.json else lambda text, _numbers: live.show(text)
        answer = _run(options, lambda session, call: tool.run(session, call, given), progress)
    finally:
        live.end()
    text = clean(answer.text)
    if options.json:
        out.write(_json(shown.to_json(text, answer.details)))
    elif out.for_people:
        out.write(f"{shown.show(text, answer.details, out)}\n")
    else:
        out.write(f"{text}\n")
    return 1 if answer.failed else 0


def status(options: argparse.Namespace) -> int:
    """Show how the index is: to people, or as a model reads it."""
    out = Terminal(sys.stdout)

    def look(session: Session, call: Call) -> str:
        from vera_ccc_tools.cli import presentation
        from vera_ccc_tools.tools import overview
        from vera_ccc_tools.tools import status as for_a_model

        if options.json:
            seen = overview.to_json(session, call)
            return _json({**seen, "text": for_a_model.text(session, call)})
        if options.model or not out.for_people:
            return f"{for_a_model.text(session, call)}\n"
        return f"{presentation.overview(overview.to_json(session, call), out)}\n"

    out.write(_run(options, look))
    return 0


def sync(options: argparse.Namespace) -> int:
    """Make ccc's exclusions equal to what git ignores, or show what that would change."""
    from vera_ccc_tools.cli import presentation
    from vera_ccc_tools.system.text import clean
    from vera_ccc_tools.tools.sync import sync as run_sync

    out, dry = Terminal(sys.stdout), options.dry_run

    def run(session: Session, call: Call) -> Any:
        return run_sync(session, call, dry_run=dry, why=dry or options.why)

    report = _run(options, run)
    shown = clean(report.render())
    if options.json:
        out.write(_json(report.to_json()))
    elif out.for_people:
        out.write(f"{presentation.sync(shown, out)}\n")
    else:
        out.write(shown)
    return 0


def init(options: argparse.Namespace) -> int:
    """Set the project up for an agent, or undo that."""
    from vera_ccc_tools.setup import init
    from vera_ccc_tools.system.text import clean

    directory = _directory(options)
    live = Live(Terminal(sys.stderr))
    if not options.remove:
        live.hint("Checking that the server starts …")
    try:
        if options.remove:
            report = init.take_out(directory, options.agent)
        else:
            report = init.set_up(directory, options.agent, options.terse)
    finally:
        live.end()
    text = _json(report.to_json()) if options.json else f"{clean(report.render())}\n"
    Terminal(sys.stdout).write(text)
    return 0


def call(options: argparse.Namespace) -> int:
    """Call a tool as an agent does, and print what a model would read."""
    from vera_ccc_tools.tools import table

    try:
        given = json.loads(options.arguments)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"The arguments {shorten(options.arguments)} are no JSON: {error}.",
            """Give an object, such as '{"query": "where is the config read"}'.""",
        ) from error
    said = Terminal(sys.stderr)

    def run(session: Session, call: Call) -> Any:
        call = replace(call, front=Front.MODEL)
        result = table.call_tool(session, options.tool, given, call)
        # What it has started in the background: there is no later turn to say so.
        return result, session.finish(call.front)

    progress = _silence if options.json else (lambda text, _numbers: said.write(f"{text}\n"))
    result, ended = _run(options, run, progress)
    failed = bool(result["isError"])
    if options.json:
        Terminal(sys.stdout).write(_json(result))
        return 1 if failed else 0
    (said if failed else Terminal(sys.stdout)).write(f"{result['content'][0]['text']}\n")
    for line in ended:
        Terminal(sys.stdout).write(f"{line}\n")
    return 1 if failed else 0


def tools(_options: argparse.Namespace) -> int:
    """Print the table of tools."""
    from vera_ccc_tools.tools import table

    Terminal(sys.stdout).write(_json(table.listing()))
    return 0


def mcp(options: argparse.Namespace) -> int:
    """Serve the MCP front, whose dependencies are an extra."""
    directory = _directory(options)
    try:
        from vera_ccc_tools.mcp_server import server
    except ImportError as error:
        from vera_ccc_tools.setup import launch

        raise Failure(
            "mcp_missing",
            f"The verb mcp needs what this Python does not have: {error}.",
            f"Install vera-ccc-tools[mcp] in {sys.executable}, or run this, which makes an "
            f"environment of its own once: {launch.find().line('mcp')}",
        ) from error
    return server.main(directory)


def worker(_options: argparse.Namespace) -> int:
    """Answer an agent's requests until standard input closes."""
    from vera_ccc_tools import worker

    return worker.main()


def _directory(options: argparse.Namespace) -> Path:
    """The directory that an option names.

    Raises:
        Failure: ``bad_directory``.
    """
    try:
        path = Path(options.cwd).absolute()
    except OSError as error:
        raise Failure(
            "bad_directory",
            f"The current directory cannot be used: {error.strerror}.",
            "Change to one that exists.",
        ) from error
    try:
        return project.working_directory(path)
    except Failure as failure:
        option = options.names_directory
        hint = f"Give `{option}` a directory that exists and that you may read."
        raise Failure(failure.code, failure.message, hint) from failure


def _silence(_text: str, _numbers: Mapping[str, float]) -> None:
    """Tell nobody."""


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _run(
    options: argparse.Namespace,
    run: Callable[[Session, Call], Any],
    progress: Callable[[str, Mapping[str, float]], None] = _silence,
) -> Any:
    """Run *run* for the directory that the options name; Ctrl-C stops it as a cancel does."""
    cwd = _directory(options)
    session = Session()
    task = Task(lambda cancel: run(session, Call(cwd, cancel, progress, Front.TERMINAL)))
    try:
        while not task.wait(LISTENING, Cancel()):
            pass
        return task.result(Cancel())
    except KeyboardInterrupt:
        task.cancel.press()
        session.close()  # what runs in the background may be what the task waits for
        task.wait(LAST_ORDERS, Cancel())
        raise
    finally:
        session.close()
