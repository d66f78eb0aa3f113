"""Keep ccc's ``exclude_patterns`` equal to what git ignores.

The law: after a sync ccc's own glob matcher includes a file exactly when git does not ignore it
and the user's own patterns would include it. Only entries that the state file names as ours are
ever taken out, and a git that fails leaves everything as it is.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

from vera_ccc_tools.sync.project import ProjectSync
from vera_ccc_tools.sync.report import Report
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.locks import turn
from vera_ccc_tools.system.tasks import Cancel

__all__ = ["Report", "Syncer", "sync"]


def sync(
    root: Path,
    *,
    cancel: Cancel | None = None,
    dry_run: bool = False,
    tracked_ignored: bool = False,
) -> Report:
    """Sync the project at *root* once; see `Syncer.sync`."""
    return Syncer().sync(root, cancel=cancel, dry_run=dry_run, tracked_ignored=tracked_ignored)


class Syncer:
    """Syncs projects, one call at a time for each, and remembers what it saw.

    Hold one for as long as the process lives: a sync that finds nothing changed since its last
    one costs little more than the git command that it runs. Any thread may call it.
    """

    def __init__(self, environment: Environment | None = None) -> None:
        self._environment = environment or Environment()
        self._lock = threading.Lock()
        self._projects: dict[Path, ProjectSync] = {}

    def sync(
        self,
        root: Path,
        *,
        cancel: Cancel | None = None,
        dry_run: bool = False,
        tracked_ignored: bool = False,
    ) -> Report:
        """Bring the settings of the project at *root* in line with git.

        git that fails is a warning in the report, with the entries as they were.

        Raises:
            Failure: ``no_settings``, ``settings_broken``, ``settings_refused``,
                ``settings_changed``, ``sidecar_broken``, ``sidecar_newer``, ``cannot_write``,
                or ``sync_locked``; the settings file is then as it was.
        """
        cancel = cancel or Cancel()
        project = self._project(root)
        with turn(project.lock, cancel):
            report = project.sync(cancel, dry_run=dry_run)
            if tracked_ignored:
                report = replace(report, tracked_ignored=project.tracked_ignored(cancel))
        return report

    def _project(self, root: Path) -> ProjectSync:
        root = Path(os.path.realpath(root))
        with self._lock:
            return self._projects.setdefault(root, ProjectSync(root, self._environment))
