"""The command line: ``python -m vera_ccc_tools VERB``. Exit 0, 1 on a failure, 2 on usage."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from vera_ccc_tools import __version__
from vera_ccc_tools.errors import Failure, InvalidArgument, shorten


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Only the verb's own modules are imported: start-up time is felt."""
    options = _parser().parse_args(argv)
    try:
        return int(options.run(options))
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vera-ccc", description="Semantic code search by CocoIndex Code, for coding agents."
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    worker = verbs.add_parser("worker", help="answer an agent's requests on standard input")
    worker.set_defaults(run=_worker)
    tools = verbs.add_parser("tools", help="print the table of tools as JSON")
    tools.set_defaults(run=_tools)
    sync = verbs.add_parser("sync", help="make ccc's exclusions equal to what git ignores")
    sync.add_argument("--json", action="store_true", help="print the report as JSON")
    sync.add_argument("--dry-run", action="store_true", help="write nothing, print the difference")
    sync.set_defaults(run=_sync)
    status = verbs.add_parser("status", help="print what a model is told about the index")
    status.set_defaults(run=_status)
    call = verbs.add_parser("call", help="call a tool")
    call.add_argument("tool", metavar="TOOL")
    call.add_argument("arguments", metavar="JSON", nargs="?", default="{}")
    call.set_defaults(run=_call)
    for verb in (sync, status, call):
        verb.add_argument("--cwd", metavar="DIR", default=".", help="instead of this directory")
    return parser


def _worker(_options: argparse.Namespace) -> int:
    from vera_ccc_tools import worker

    return worker.main()


def _tools(_options: argparse.Namespace) -> int:
    from vera_ccc_tools import tools

    _print(json.dumps(tools.listing(), indent=2, ensure_ascii=False))
    return 0


def _sync(options: argparse.Namespace) -> int:
    from vera_ccc_tools import exclusions
    from vera_ccc_tools.session import Call, Session

    call, dry = Call(_cwd(options)), options.dry_run
    report = exclusions.sync(Session(), call, dry_run=dry, why=dry)
    _print(json.dumps(report.to_json(), indent=2) if options.json else report.render())
    return 0


def _status(options: argparse.Namespace) -> int:
    from vera_ccc_tools import status
    from vera_ccc_tools.session import Call, Session

    _print(status.text(Session(), Call(_cwd(options))))
    return 0


def _call(options: argparse.Namespace) -> int:
    from vera_ccc_tools import tools
    from vera_ccc_tools.session import Call, Session

    try:
        given = json.loads(options.arguments)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"The arguments {shorten(options.arguments)} are no JSON: {error}.",
            """Give an object, such as '{"query": "where is the config read"}'.""",
        ) from error
    session = Session()
    call = Call(_cwd(options), progress=lambda text: print(text, file=sys.stderr))
    result = tools.call_tool(session, options.tool, given, call)
    failed = bool(result["isError"])
    _print(result["content"][0]["text"], failed=failed)
    _finish(session)
    return 1 if failed else 0


def _finish(session: object) -> None:
    """Wait for what was started in the background: there is no later turn to tell of it."""
    from vera_ccc_tools.session import Session

    assert isinstance(session, Session)
    for line in session.finish():
        _print(line)


def _cwd(options: argparse.Namespace) -> Path:
    from vera_ccc_tools import project

    return project.working_directory(Path(options.cwd).absolute())


def _print(text: str, *, failed: bool = False) -> None:
    """Write text as UTF-8 whatever the terminal's encoding says; a closed pipe is no error."""
    stream = sys.stderr if failed else sys.stdout
    try:
        stream.buffer.write(f"{text}\n".encode("utf-8", "replace"))
        stream.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
