"""Projects under the law of the sync: what git ignores, and only that, is hidden from ccc."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sync_world import Oracle, git, law_breakers, settings_of, write
from vera_ccc_tools.gitignore_sync import Report, Syncer
from vera_ccc_tools.sync.settings import read

SOURCE = "x = 1\n"
OPEN = 'include_patterns: ["**/*"]\nexclude_patterns: []\n'


class Project:
    """A project under test, with the user's patterns as they were before any sync."""

    def __init__(self, root: Path, oracle: Oracle, settings: str = OPEN) -> None:
        self.root = root
        self.settings = settings_of(root, settings)
        self._oracle = oracle
        self._user = oracle.settings(root)
        self.syncer = Syncer()

    def sync(self) -> Report:
        """Sync, hold the law, and hold that a second sync has nothing to do."""
        report = self.syncer.sync(self.root)
        assert not report.warnings
        assert law_breakers(self.root, self._oracle, self._user) == [], self.settings.read_text()
        assert not self.syncer.sync(self.root).changed
        assert not Syncer().sync(self.root).changed
        return report

    @property
    def entries(self) -> tuple[str, ...]:
        return read(self.settings.read_text(encoding="utf-8")).excludes

    def finds(self, *paths: str) -> list[bool]:
        return list(self._oracle.walk(paths, *self._oracle.settings(self.root)).values())


def files(*names: str, rules: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**dict.fromkeys(names, SOURCE), **(rules or {})}


def repository(root: Path, content: Mapping[str, str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    write(root, content)
    return root


def commit(root: Path, *forced: str) -> None:
    git(root, "add", "-A")
    if forced:
        git(root, "add", "-f", *forced)
    git(root, "commit", "-q", "-m", "files")
