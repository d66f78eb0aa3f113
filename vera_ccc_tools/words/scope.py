"""Which files of a project may be searched: what ccc would index, within what the caller wants."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vera_ccc_tools.ccc import languages, project
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.sync import settings
from vera_ccc_tools.sync.globs import Excludes

if TYPE_CHECKING:
    from vera_ccc_tools.ccc.path_filter import PathFilter

# What ccc's engine calls files whose extension is neither its name of a language nor an alias.
_LANGUAGES = {
    **dict.fromkeys(("h", "hh", "hxx"), "cpp"),
    **dict.fromkeys(("f", "f03", "f95"), "fortran"),
    **dict.fromkeys(("txt", "zsh"), "text"),
    "dpr": "pascal",
}
_MOST_ALTERNATIVES = 1000
_MOST_NAMED = 200
"""Files that git is given by name; more would be too long a command line somewhere."""


def language_of(path: str) -> str:
    """ccc's name of the language of the file at *path*."""
    extension = posixpath.splitext(path)[1][1:].lower()
    known = _LANGUAGES.get(extension) or languages.ALIASES.get(extension, (extension,))[0]
    return known if known in languages.KNOWN else "text"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller wants of a project; None and nothing are all of it.

    Attributes:
        paths: The `path` of the search.
        languages: ccc's names.
        files: Paths relative to the root.
    """

    paths: PathFilter | None = None
    languages: tuple[str, ...] = ()
    files: frozenset[str] | None = None


EVERYTHING = Wanted()


class Scope:
    """Decides about the files of one project; paths are relative to its root."""

    def __init__(
        self, includes: tuple[str, ...] | None, excludes: Iterable[str], wanted: Wanted
    ) -> None:
        excludes = tuple(excludes)
        self._wanted = wanted
        self._includes = None if includes is None else _Globs(includes)
        self._excludes = _Globs(each for each in excludes if not each.startswith("!"))
        self._back = _Globs(each[1:] for each in excludes if each.startswith("!"))
        self._endings = _endings(includes, wanted.languages)

    def holds(self, path: str) -> bool:
        """Whether the file at *path* is to be searched."""
        wanted = self._wanted
        return (
            (wanted.files is None or path in wanted.files)
            and (not wanted.languages or language_of(path) in wanted.languages)
            and (self._includes is None or self._includes.reach(path))
            and not self.leaves_out(path)
            and self._is_within(path)
        )

    def leaves_out(self, path: str) -> bool:
        """Whether the settings exclude *path*, or a directory above it."""
        return self._excludes.reach(path) and not self._back.reach(path)

    def _is_within(self, path: str) -> bool:
        within = self._wanted.paths
        if within is None or within.matches is not None:
            return within is None or within.matches(path)  # type: ignore[misc]
        named = re.sub(r"\[([*?\[])\]", r"\1", within.cover)  # literal but for a final `*`
        return path == named if within.one_file else path.startswith(named[:-1])

    def pathspecs(self) -> tuple[str, ...]:
        """What git is to look through: at least all that may be searched; nothing for none."""
        files = self._wanted.files
        if files is not None and len(files) <= _MOST_NAMED:
            return tuple(f":(literal){path}" for path in sorted(files) if self.holds(path))
        within = self._wanted.paths
        if within is not None and within.one_file:
            return (f"./{within.cover}",)
        # In a pathspec, as in the cover's GLOB, a `*` crosses slashes.
        cover = "*" if within is None else within.cover
        return tuple(f"./{cover}{ending}" for ending in self._endings)


def of_project(root: Path, wanted: Wanted) -> Scope:
    """The scope of the project at *root*, or of a directory that is none yet.

    Settings that cannot be read count as ccc's defaults: the sync and the doctor speak of them.
    """
    try:
        text = settings.decode(project.settings_path(root).read_bytes())
        read = settings.read(text)
    except (OSError, Failure):
        return Scope(settings.DEFAULT_INCLUDES, settings.DEFAULT_EXCLUDES, wanted)
    return Scope(read.includes, read.excludes, wanted)


def _endings(includes: Iterable[str] | None, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """With what the path of a file that may be included ends."""
    endings = [pattern.removeprefix("**/*") for pattern in includes or ("",)]
    if not all(ending[:1] == "." and ending[1:].isalnum() for ending in endings):
        return ("",)
    return tuple(end for end in endings if not wanted or language_of(f"x{end}") in wanted)


class _Globs:
    """Patterns as ccc reads them; where one means something uncertain, it matches rather more."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._simple = Excludes(patterns)
        others = [each for each in patterns if not _SIMPLE.fullmatch(each)]
        self._regex = re.compile("|".join(map(_regex, others)) or "(?!)", re.DOTALL)

    def reach(self, path: str) -> bool:
        """Whether a pattern matches *path*, or a directory above it."""
        if self._simple.cover(path):
            return True
        ends = (at for at, char in enumerate(path + "/") if char == "/")
        return any(self._regex.fullmatch(path, 0, end) for end in ends)


_PLAIN = r"[^?*\[\]{}\\]+"
_SIMPLE = re.compile(rf"(?:\*\*/)?(?:\*?{_PLAIN}|{_PLAIN}/\*\*?)")
"""What `Excludes` knows."""


def _regex(pattern: str) -> str:
    plain = re.sub(r"\\(.)", r"[\1]", pattern)
    if "{" not in plain:
        return _form(plain)
    import bracex

    try:
        forms = bracex.expand(plain, keep_escapes=True, limit=_MOST_ALTERNATIVES)
    except (bracex.ExpansionLimitException, RecursionError):
        return ".*"
    return "|".join(map(_form, forms))


def _form(form: str) -> str:
    """One alternative: `fnmatch`, but for a ``**`` that stands for directories, or none."""
    text = form.removeprefix("**/")
    # A translation ends in an anchor of two characters.
    parts = (fnmatch.translate(part)[:-2] for part in text.split("/**/"))
    return ("(?:.*/)?" if text != form else "") + "/(?:.*/)?".join(parts)
