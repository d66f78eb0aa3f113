"""Which directories are projects of ccc, and which may become one.

All of it is decided from the disk alone, as ccc decides it, so that looking at a project does
not make ccc index it.
"""

from __future__ import annotations

import os
from pathlib import Path

from vera_ccc_tools.boot import environments
from vera_ccc_tools.errors import Do, Failure, Step, shorten

DIRECTORY = ".cocoindex_code"
SETTINGS = "settings.yml"


def working_directory(cwd: str | os.PathLike[str]) -> Path:
    """Resolve the directory that a call names.

    Raises:
        Failure: ``bad_directory`` when it is relative, missing, no directory, or unreadable.
    """
    path = Path(cwd)
    quoted = shorten(str(cwd), 200)
    if not path.is_absolute():
        raise Failure("bad_directory", f"The working directory {quoted} is not an absolute path.")
    try:
        resolved = path.resolve(strict=True)
        if not resolved.is_dir():
            raise Failure("bad_directory", f"The working directory {quoted} is not a directory.")
        os.scandir(resolved).close()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Failure(
            "bad_directory",
            f"The working directory {quoted} cannot be used: {reason}.",
            "Start the session in a directory that exists and that you may read.",
        ) from error
    return resolved


def find_root(cwd: Path) -> Path | None:
    """The nearest directory from *cwd* upward that holds project settings, as ccc finds it."""
    for directory in (cwd, *cwd.parents):
        if is_file(settings_path(directory)):
            return directory
    return None


def find_git_root(cwd: Path) -> Path | None:
    """The nearest directory from *cwd* upward with a ``.git`` (a file in linked work trees)."""
    for directory in (cwd, *cwd.parents):
        if os.path.lexists(directory / ".git"):
            return directory
    return None


def is_file(path: Path) -> bool:
    """Whether there is such a file; one that cannot even be looked at is none."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's one raises


def find_repository(cwd: Path) -> Path | None:
    """The git root that may become a project for *cwd*; the home directory and above never do.

    The rule is ccc's (``find_parent_with_marker``), with links in the home's path resolved.
    """
    root = find_git_root(cwd)
    return None if root is None or holds_home(root) else root


def holds_home(root: Path) -> bool:
    """Whether *root* is the home directory or lies above it, links in its path resolved."""
    return Path(os.path.realpath(environments.home())).is_relative_to(root)


def check_root(root: Path, cwd: Path) -> None:
    """Refuse to index a home directory that was made a project, mostly by mistake.

    Whatever lies below it and is no project itself, such as *cwd*, belongs to it.

    Raises:
        Failure: ``home_project``.
    """
    if not holds_home(root):
        return
    is_home = root == Path(os.path.realpath(environments.home()))
    named = f"The home directory {root}" if is_home else f"{root}, which holds the home directory,"
    repository = find_repository(cwd)
    what = f"the repository {repository} is only a part of it" if repository else f"{cwd} is in it"
    do = Do.REMOVE_HOME_PROJECT if repository else Do.REMOVE_HOME_PROJECT_AND_LEAVE
    raise Failure(
        "home_project",
        f"{named} is a ccc project, and {what}: all of it would be indexed.",
        Step(do, settings_path(root)),
    )


def settings_path(root: Path) -> Path:
    """The project's settings, which belong to the user and to ccc."""
    return root / DIRECTORY / SETTINGS
