"""ccc's own matcher and settings loader behind a pipe; run by the Python that ccc runs in.

A line of JSON in, a line of JSON out. Paths and patterns may hold any text that ccc accepts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from cocoindex.resources.file import PatternFilePathMatcher  # type: ignore[import-not-found]
from cocoindex_code.file_walk import GitignoreAwareMatcher  # type: ignore[import-not-found]
from cocoindex_code.settings import (  # type: ignore[import-not-found]
    load_gitignore_spec,
    load_project_settings,
)


def matcher(request: dict[str, Any]) -> Any:
    """The matcher that the request describes."""
    made = PatternFilePathMatcher(request["include"], request["exclude"])
    if "gitignore_root" not in request:
        return made
    root = Path(request["gitignore_root"])
    return GitignoreAwareMatcher(made, load_gitignore_spec(root), root)


def walked(asked: Any, files: list[str]) -> list[bool]:
    """Whether a walk from the top reaches each file and takes it."""
    known: dict[PurePosixPath, bool] = {PurePosixPath(): True}

    def reaches(directory: PurePosixPath) -> bool:
        if directory not in known:
            known[directory] = reaches(directory.parent) and asked.is_dir_included(directory)
        return known[directory]

    paths = [PurePosixPath(file) for file in files]
    return [reaches(path.parent) and asked.is_file_included(path) for path in paths]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request: settings of a root, or files (walked or alone) and directories."""
    if "settings" in request:
        loaded = load_project_settings(Path(request["settings"]))
        return {"include": loaded.include_patterns, "exclude": loaded.exclude_patterns}
    asked = matcher(request)
    return {
        "walked": walked(asked, request.get("walk", [])),
        "files": [asked.is_file_included(PurePosixPath(path)) for path in request.get("files", [])],
        "directories": [
            asked.is_dir_included(PurePosixPath(path)) for path in request.get("directories", [])
        ],
    }


def main() -> None:
    """Answer until the pipe closes."""
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - the asking test wants to see it
            reply = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
