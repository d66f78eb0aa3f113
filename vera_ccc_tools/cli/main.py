"""The command line: finds the verb, reads its options, and says how it ended.

Exit 0 on success, 1 on a `Failure` (on standard error, message and hint; with ``--json`` an object
``error`` on standard output), 2 when the command line cannot be understood, 130 on Ctrl-C. Only
what the verb needs is imported: start-up time is felt.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from vera_ccc_tools.boot import invocation
from vera_ccc_tools.cli.verbs import VERBS, Verb
from vera_ccc_tools.errors import Failure, shorten
from vera_ccc_tools.system.tasks import Cancelled


def run(argv: Sequence[str]) -> int:
    """Run the verb that *argv* names; the exit code.

    Raises:
        Failure: ``cannot_write``.
    """
    if not argv:
        return _misused("Name a verb.")
    if argv[0] in {"--help", "-h", "help"}:
        return run([argv[1], "--help"]) if argv[0] == "help" and argv[1:] else _say(_overview())
    verb = next((each for each in VERBS if each.name == argv[0]), None)
    if verb is None:
        return _misused(_unknown(argv[0]))
    try:
        options = parse(verb, argv[1:])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 2
    return _carry_out(verb, options)


def _carry_out(verb: Verb, options: argparse.Namespace) -> int:
    try:
        return verb.run(options)
    except Failure as failure:
        return failed(failure, as_json=getattr(options, "json", False))
    except (Cancelled, KeyboardInterrupt):
        return 130


def failed(failure: Failure, *, as_json: bool = False) -> int:
    """Tell of a failure; the exit code."""
    import json

    from vera_ccc_tools.cli import presentation
    from vera_ccc_tools.cli.terminal import Terminal

    as_json = as_json and failure.code != "cannot_write"
    said = Terminal(sys.stdout if as_json else sys.stderr)
    message, hint = presentation.said(failure)
    error = {"code": failure.code, "message": message, "hint": hint}
    text = json.dumps({"error": error}, indent=2, ensure_ascii=False)
    with suppress(Failure):  # nor can that be said
        said.write(f"{text if as_json else presentation.failure(failure, said)}\n")
    return 1


def _say(text: str) -> int:
    from vera_ccc_tools.cli.terminal import Terminal

    Terminal(sys.stdout).write(text)
    return 0


def _misused(why: str) -> int:
    from vera_ccc_tools.cli.terminal import Terminal

    name = invocation.command()
    Terminal(sys.stderr).write(
        f"{_usage()}\n{name}: error: {why}\n`{name} --help` lists the verbs.\n"
    )
    return 2


def _usage() -> str:
    return f"usage: {invocation.command()} VERB [OPTIONS]"


def _unknown(word: str) -> str:
    import difflib

    if word.startswith("-"):
        return f"There is no option {shorten(word)} before the verb."
    near = difflib.get_close_matches(word.lower(), [verb.name for verb in VERBS], n=1, cutoff=0.5)
    return f"There is no verb {shorten(word)}." + (f" Did you mean `{near[0]}`?" if near else "")


def _overview() -> str:
    """What ``--help`` prints."""
    lines = [
        _usage(),
        "",
        "Semantic code search by CocoIndex Code (ccc), for people and for agents.",
        "",
    ]
    for title, programs in (("In a project:", False), ("For programs:", True)):
        shown = [verb for verb in VERBS if verb.for_programs == programs]
        lines += [title, *(f"  {verb.name:8}{verb.summary}" for verb in shown), ""]
    return invocation.in_place("\n".join([*lines, *_ABOUT])) + "\n"


_ABOUT = (
    "`vera-ccc VERB --help` says more and gives examples.",
    "",
    "A git repository becomes a ccc project by `vera-ccc index`, any other directory by",
    "`vera-ccc call ccc_init` in it. The embedding model is chosen once, by `ccc init`.",
    "",
    "Exit codes: 0 done; 1 it failed, and standard error says why and what to do; 2 the command",
    "line cannot be understood; 130 stopped by Ctrl-C.",
    "On a terminal results are laid out for people, in colours unless NO_COLOR is set; piped they",
    "are plain text, of search and status what a model gets. --json gives one stable object, for",
    'failures too: {"error": {"code", "message", "hint"}} on standard output, with exit code 1.',
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors name the next step, and show the usage as argparse does."""

    def _print_message(self, message: str, file: Any = None) -> None:
        from vera_ccc_tools.cli.terminal import Terminal

        if message:
            Terminal(file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n`{self.prog} --help` says more.\n")


def parse(verb: Verb, argv: Sequence[str]) -> argparse.Namespace:
    """Read the options of *verb*; exits with 2 where they cannot be understood."""
    about = f"{verb.summary[0].upper()}{verb.summary[1:]}. {verb.about}".strip()
    name = invocation.command()
    lines = [(line.replace(invocation.SCRIPT, name, 1), does) for line, does in verb.examples]
    wide = max((len(line) for line, _ in lines), default=0)
    examples = "\n".join(f"  {line:{wide}}  {does}".rstrip() for line, does in lines)
    parser = _Parser(
        prog=f"{name} {verb.name}",
        description=about,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.options(parser)
    options, further = parser.parse_known_args(list(argv))
    if further:
        # Words of a query that stand behind an option.
        if not hasattr(options, "query") or any(word.startswith("-") for word in further):
            parser.error(f"unrecognized arguments: {' '.join(further)}")
        options.query += further
    if not "".join(getattr(options, "query", "x")).strip():
        parser.error("QUERY is empty: say what the code does.")
    return options
