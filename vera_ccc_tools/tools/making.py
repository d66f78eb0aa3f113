"""Making a directory a project of ccc: what may become one, and keeping its index out of git."""

from __future__ import annotations

import os
import sys
from itertools import islice
from pathlib import Path

from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.client import Ccc
from vera_ccc_tools.errors import Do, Failure, Step
from vera_ccc_tools.git.git import Git
from vera_ccc_tools.system import files
from vera_ccc_tools.system.environment import Environment
from vera_ccc_tools.system.tasks import Cancel
from vera_ccc_tools.system.text import counted

MOST_FILES = 20_000
"""Files of a directory without git that is made a project without being asked twice."""
_ENTRY = b"/.cocoindex_code/"
_HEAD = b"# CocoIndex Code (ccc)"
_PREFIX = ".vera-gitignore-"
_SYSTEM = (
    # Nothing below these is anybody's project; of the others only they themselves, and what lies
    # directly in them: people do keep code in /usr/local/src or /opt/company.
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys"),
    *("/System", "/Library", "/private/etc"),
)
_HOLDERS = ("/", "/usr", "/var", "/opt", "/home", "/Users", "/Applications")


def check_place(directory: Path) -> None:
    """Refuse what is hardly meant to be indexed: of the system, of others, or far too much.

    Raises:
        Failure: ``system_directory``, ``foreign_directory`` or ``too_many_files``.
    """
    step = Step(Do.FORCE, directory)
    if _is_of_the_system(directory):
        raise Failure("system_directory", f"{directory} is a directory of the system.", step)
    if _is_of_another_user(directory):
        message = f"{directory} belongs to another user."
        raise Failure("foreign_directory", message, step)
    if project.find_git_root(directory) is None and _holds_many(directory):
        message = (
            f"{directory} lies in no git repository and holds more than "
            f"{counted(MOST_FILES, 'file')}: all of them would be indexed."
        )
        raise Failure("too_many_files", message, step)


def _is_of_the_system(directory: Path) -> bool:
    if sys.platform == "win32":
        windows = os.environ.get("SYSTEMROOT", r"C:\Windows")
        return directory == Path(directory.anchor) or directory.is_relative_to(windows)
    holders = [Path(each) for each in _HOLDERS]
    inside = any(directory.is_relative_to(each) for each in _SYSTEM)
    # In /home and /Users lie the homes of people, which are looked at by themselves.
    children = [each for each in holders if each.name in {"usr", "var"}]
    return inside or directory in holders or directory.parent in children


def _is_of_another_user(directory: Path) -> bool:
    if sys.platform == "win32" or os.getuid() == 0:  # root keeps what others own in containers
        return False
    return directory.stat().st_uid not in {os.getuid(), 0}


def _holds_many(directory: Path) -> bool:
    names = (name for _, _, found in os.walk(directory) for name in found)
    return next(islice(names, MOST_FILES, None), None) is not None


def make(ccc: Ccc, root: Path, *, force: bool, model: str | None, cancel: Cancel | None) -> str:
    """Make *root* a project whose index git ignores; give back what ccc says.

    Raises:
        Failure: What ccc fails of.
    """
    _ignore_index(root)
    try:
        said = ccc.init(root, force=force, model=model, cancel=cancel)
    except Failure as failure:
        # ccc reads .gitignore as UTF-8 when it has written the settings; the entry is there.
        unread = "UnicodeDecodeError" in failure.message
        if not unread or not project.is_file(project.settings_path(root)):
            raise
        said = ""
    hide_index(ccc.environment, root, cancel)
    return said


def _ignore_index(root: Path) -> None:
    """Add ccc's entry to the repository's ``.gitignore``: ccc would rewrite all line ends of it."""
    path = (root / ".gitignore").resolve()
    if not (root / ".git").is_dir() or not project.is_file(path):
        return
    before = path.read_bytes()
    lines = before.splitlines()
    if _ENTRY in lines:
        return
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = b"" if not before or before.endswith(b"\n") else end
    files.replace(path, before + gap + _HEAD + end + _ENTRY + end, _PREFIX)


def hide_index(environment: Environment, root: Path, cancel: Cancel | None) -> None:
    """Have git ignore ccc's directory at *root* where no rule does.

    ccc writes ``.gitignore`` at the root of a plain repository alone: not in linked work trees,
    submodules and subdirectories.
    """
    directory = root / project.DIRECTORY
    if project.find_git_root(root) is None or not directory.is_dir():
        return
    probe = os.fsencode(f"{project.DIRECTORY}/{project.SETTINGS}")
    try:
        if Git.find(environment).rules(root, [probe], cancel):
            return
        files.replace(directory / ".gitignore", b"*\n", _PREFIX)
    except (Failure, OSError):
        return  # git cannot be asked, or the directory not written: nothing of the user's is lost
