"""Where ccc keeps its indexes and what is the user's, by the environment that it is given."""

from __future__ import annotations

import os
from pathlib import Path

from vera_ccc_tools.boot import environments
from vera_ccc_tools.ccc.project import DIRECTORY
from vera_ccc_tools.system.environment import Environment

INDEX = "target_sqlite.db"


class Places:
    """The places of one user of ccc.

    Attributes:
        user: The directory of the global settings.
        global_settings: The embedding model and the daemon's environment (with API keys).
        runtime: The directory of the daemon's socket, process id and log.
        daemon_log: The daemon's last words after a crash included.
    """

    def __init__(self, environment: Environment) -> None:
        named = environment.get("COCOINDEX_CODE_DIR")
        home = environment.get("USERPROFILE" if os.name == "nt" else "HOME") or environments.home()
        self.user = Path(named) if named else Path(home) / DIRECTORY
        self.global_settings = self.user / "global_settings.yml"
        self.runtime = Path(environment.get("COCOINDEX_CODE_RUNTIME_DIR") or self.user)
        self.daemon_log = self.runtime / "daemon.log"
        self._mapping = environment.get("COCOINDEX_CODE_DB_PATH_MAPPING")

    def index(self, root: Path) -> Path:
        """The index database of the project at *root*, which ccc can be set to keep elsewhere.

        The rule is ccc's: the first matching pair of ``COCOINDEX_CODE_DB_PATH_MAPPING``
        (``source=target``, comma-separated), else the project's own directory.
        """
        for pair in self._mapping.split(","):
            source, separator, target = pair.strip().partition("=")
            if separator and root.is_relative_to(Path(source).resolve()):
                return Path(target) / root.relative_to(Path(source).resolve()) / INDEX
        return root / DIRECTORY / INDEX

    def is_indexed(self, root: Path) -> bool:
        """Whether an index exists; decided by its database file, without ccc."""
        try:
            return self.index(root).stat().st_size > 0
        except OSError:
            return False
