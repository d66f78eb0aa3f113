"""The table of verbs of the command line, and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.errors import shorten

AGENTS = ("claude", "cursor", "vscode", "codex", "pi")
"""For whom a project can be set up: those of `setup/agents.py`, not imported for their names."""

TERSE = ("off", "lite", "standard", "max")
"""The levels of `setup/terseness.py`, not imported for their names."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    Attributes:
        name: As it is typed.
        summary: One line of the list of verbs.
        options: Adds its options to its parser.
        run: Does it; gives the exit code.
        about: What its ``--help`` says beyond the summary.
        examples: Whole command lines, each with a few words on what it does.
        for_programs: Whether programs rather than people start it.
    """

    name: str
    summary: str
    run: Callable[[argparse.Namespace], int]
    options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    about: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    for_programs: bool = False


def whole(low: int, high: int) -> Callable[[str], int]:
    """A reader of whole numbers from *low* to *high*."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            message = f"{shorten(text)} is no whole number from {low} to {high:,}"
            raise argparse.ArgumentTypeError(message)
        return number

    return read


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function *name* of `commands.py`, imported when it runs."""

    def run(options: argparse.Namespace) -> int:
        from vera_ccc_tools.cli import commands

        return int(getattr(commands, name)(options))

    return run


def where(
    parser: argparse.ArgumentParser, name: str = "--cwd", does: str = "instead of this directory"
) -> None:
    """Add the option that names the directory; both of its names go, and *name* is shown."""
    for option in ("--cwd", "--dir"):
        told = does if option == name else argparse.SUPPRESS
        parser.add_argument(option, dest="cwd", metavar="DIR", default=".", help=told)
    parser.set_defaults(names_directory=name)


def _as_json(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print one JSON object: {what}")


def _search_options(parser: argparse.ArgumentParser) -> None:
    from vera_ccc_tools.tools.arguments import SearchArguments, schema

    described = schema(SearchArguments)["properties"]

    def add(option: str, name: str, **more: Any) -> None:
        """Add an option for the argument *name*, which is described where the tools are."""
        it = described[name]
        about = it["description"].rstrip(".")
        default = it.get("default")
        shown = f" ({default})" if it["type"] == "integer" else ""
        if it["type"] == "integer":
            more |= {"metavar": "N", "type": whole(it["minimum"], it["maximum"])}
        told = f"{about[0].lower()}{about[1:]}{shown}"
        parser.add_argument(option, dest=name, default=default, help=told, **more)

    about = described["query"]["description"].split(";")[0]
    parser.add_argument("query", metavar="QUERY", nargs="+", help=f"{about[0].lower()}{about[1:]}")
    add("--limit", "limit")
    add("--offset", "offset")
    add("--lang", "languages", metavar="L", action="append")
    add("--path", "path", metavar="P")
    parser.add_argument(
        "--no-refresh", dest="refresh_index", action="store_false", help="search the index as it is"
    )
    add("--rank", "rank", choices=described["rank"]["enum"])
    where(parser)
    _as_json(parser, "results (with path and content), by, refreshed, stale, elapsed_ms, text")


def _index_options(parser: argparse.ArgumentParser) -> None:
    where(parser)
    _as_json(parser, "root, files, chunks, languages, elapsed_ms, text")


def _status_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", action="store_true", help="what a model reads, as when the output is piped"
    )
    where(parser)
    _as_json(parser, "state, root, files, chunks, languages, progress, message, hint, text")


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verbose", action="store_true", help="full tracebacks of failed checks")
    where(parser)
    _as_json(parser, "checks (name, ok), text")


def _sync_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="write nothing; print the difference, and --why"
    )
    parser.add_argument("--why", action="store_true", help="name the ignore rule behind each entry")
    where(parser)
    _as_json(parser, "changed, written, added, removed, kept, entries, left_out, warnings, …")


def _call_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tool", metavar="TOOL", help="ccc_search, ccc_index, ccc_init or ccc_doctor"
    )
    parser.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="its arguments")
    where(parser)
    _as_json(parser, "content, isError, details")


def _init_options(parser: argparse.ArgumentParser) -> None:
    where(parser, "--dir")
    parser.add_argument(
        "--agent", choices=AGENTS, default=AGENTS[0], help=f"for whom ({AGENTS[0]})"
    )
    parser.add_argument(
        "--terse", choices=TERSE, default="standard", help="how terse to answer (standard)"
    )
    parser.add_argument("--remove", action="store_true", help="take out what init put in")
    _as_json(parser, "agent, directory, files (path, action), next")


def _mcp_options(parser: argparse.ArgumentParser) -> None:
    where(parser, "--dir", "the project; instead of this directory")


VERBS = (
    Verb(
        "search",
        "find code by meaning",
        _command("search"),
        _search_options,
        "The index is brought up to date first. The number is ccc's similarity, at most 1.",
        (
            ("vera-ccc search where are failed uploads retried", ""),
            ("vera-ccc search parse the config --path src --lang python", "in a part of it"),
            ("vera-ccc search parse the config --offset 5", "the next five"),
            ("vera-ccc search --json retry | jq -r '.results[].path'", "for a script"),
            ("vera-ccc search -- --dry-run", "a query that begins with a dash"),
        ),
    ),
    Verb(
        "index",
        "build the index, or bring it up to date",
        _command("index"),
        _index_options,
        "A git repository is made a ccc project first. Searches bring the index up to date by "
        "themselves.",
        (("vera-ccc index", ""), ("vera-ccc index --cwd ~/my-project", "of another project")),
    ),
    Verb(
        "status",
        "show how large and how ready the index is",
        _command("status"),
        _status_options,
        "Piped, or with --model, it is what a model reads in each turn.",
        (("vera-ccc status", ""), ("vera-ccc status --json | jq -r .state", "for a script")),
    ),
    Verb(
        "doctor",
        "find out why search does not work",
        _command("doctor"),
        _doctor_options,
        "The report goes to standard output; the exit code is 1 when a check fails.",
        (("vera-ccc doctor", ""), ("vera-ccc doctor --verbose", "with ccc's tracebacks")),
    ),
    Verb(
        "sync",
        "make ccc's exclusions equal to what git ignores",
        _command("sync"),
        _sync_options,
        "Searches and index runs do that by themselves.",
        (("vera-ccc sync --dry-run", "what would change, and why each entry is there"),),
    ),
    Verb(
        "init",
        "set the project up for an agent that speaks MCP",
        _command("init"),
        _init_options,
        "The server goes into the agent's configuration in the project, how to use it into\n"
        "CLAUDE.md or AGENTS.md, and `.cce/*` into .gitignore. All else in these files stays as\n"
        "it is; --remove brings them back to the byte. Nothing is indexed.",
        (
            ("vera-ccc init", "for Claude Code"),
            ("vera-ccc init --agent cursor --dir ~/my-project", ""),
            ("vera-ccc init --remove", ""),
        ),
    ),
    Verb(
        "call",
        "call a tool as an agent does",
        _command("call"),
        _call_options,
        "The text that a model would read is printed.",
        (
            ("""vera-ccc call ccc_search '{"query": "where is the config read"}'""", ""),
            ("vera-ccc call ccc_init", "make this directory a ccc project"),
        ),
        for_programs=True,
    ),
    Verb("tools", "print the table of tools as JSON", _command("tools"), for_programs=True),
    Verb(
        "worker",
        "answer an agent's requests on standard input",
        _command("worker"),
        for_programs=True,
    ),
    Verb(
        "mcp",
        "serve the nine MCP tools on standard input and output",
        _command("mcp"),
        _mcp_options,
        "An agent starts it, and it ends when its standard input closes.",
        for_programs=True,
    ),
)
