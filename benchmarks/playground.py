"""A user of their own for a measurement: a ccc, an embedder, a daemon, and nothing of it left."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment


@contextmanager
def user(python: str) -> Iterator[tuple[Path, dict[str, str], str]]:
    """A user with a ccc, a hashing embedder and a daemon; all of it ended afterwards."""
    ccc = str(environment.find_ccc().path)
    base = Path(tempfile.mkdtemp(prefix="b", dir="/tmp" if Path("/tmp").is_dir() else None))  # noqa: S108
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "COCOINDEX_", "VERA_CCC_", "XDG_"))
    }
    environ |= {"HOME": str(base), "COCOINDEX_CODE_DIR": str(base / "c")}
    environ |= {"COCOINDEX_DISABLE_USAGE_TRACKING": "1"}
    environ |= {"VERA_CCC_EXECUTABLE": ccc, "VERA_CCC_PYTHON": python}
    with environment.embedding_server(python, "hashing") as address:
        environment.write_global_settings(base / "c", "hashing", address)
        try:
            yield base, environ, ccc
        finally:
            subprocess.run([ccc, "daemon", "stop"], env=environ, check=False, timeout=60)
            shutil.rmtree(base, ignore_errors=True)
