"""One sync that a person or a program asked for."""

from __future__ import annotations

from dataclasses import replace

from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync.reasons import reasons
from vera_ccc_tools.sync.report import Report
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools.session import Session, how_to_begin


def sync(session: Session, call: Call, *, dry_run: bool, why: bool) -> Report:
    """Sync the project around the caller's directory, whether or not the sync is turned off.

    With *why* the report says of each entry which rule it came from: one more question to each
    of the project's repositories.

    Raises:
        Failure: ``not_initialized``, and those of `gitignore_sync.Syncer.sync`.
    """
    root = session.root_of(call.cwd)
    if root is None:
        raise Failure(
            "not_initialized",
            f"{call.cwd} belongs to no ccc project.",
            how_to_begin(call.cwd),
        )
    report = session.syncer().sync(root, cancel=call.cancel, dry_run=dry_run, tracked_ignored=True)
    if not why:
        return report
    return replace(report, reasons=reasons(root, report, session.environment, call.cancel))
