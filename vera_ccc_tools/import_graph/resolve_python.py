"""Python's modules: relative ones exactly, others by what can be on ``sys.path``."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable, Iterator

from vera_ccc_tools.import_graph.facts import Import
from vera_ccc_tools.import_graph.files import FileSet, ancestors, directory_of, join
from vera_ccc_tools.import_graph.manifests import View

# A package comes before a module of its name, as in `importlib.machinery.FileFinder`.
_FORMS = ("{}/__init__.py", "{}.py", "{}.pyi", "{}/__init__.pyi", "{}.pyx")


def python(view: View, wanted: Import) -> Iterable[str]:
    """The modules of one import: of ``from a import b`` the file of ``a.b``, if that is a module,
    else the file of ``a``."""  # noqa: D205, D209 - one sentence
    module = wanted.name.lstrip(".")
    level = len(wanted.name) - len(module)
    if not level:
        return _absolute(view, wanted)
    base: str | None = directory_of(view.path)
    for _ in range(level - 1):
        base = directory_of(base) if base else None
    words = module.split(".") if module else []
    place = "/".join(filter(None, (base, *words)))
    return [] if base is None else _taken(view.files, place, wanted)


def _taken(files: FileSet, place: str, wanted: Import) -> Iterator[str]:
    """The files that are taken of the module at *place*, a path without its extension."""
    missing = not wanted.names
    for name in wanted.names:
        found = None if name == "*" else _module(files, posixpath.join(place, name))
        missing |= found is None
        if found is not None:
            yield found
    whole = _module(files, place) if missing else None
    if whole is not None:
        yield whole


def _module(files: FileSet, place: str) -> str | None:
    if not place:  # the project's root
        return files.first(["__init__.py", "__init__.pyi"])
    return files.first(form.format(place) for form in _FORMS)


def _absolute(view: View, wanted: Import) -> list[str]:
    words = wanted.name.split(".")
    holders = view.files.holders(words[0])
    for name in (words[-1], *wanted.names):
        view.files.expect(name)
    if not holders:
        return []
    for root in _own_roots(view, words):
        if root in holders and (found := _in_root(view.files, root, wanted)):
            return found
    answers = {
        root: found
        for root in sorted(_all_roots(view) & holders)
        if (found := _in_root(view.files, root, wanted))
    }
    if not answers:
        answers = _only_package(view.files, holders, wanted)
    distinct = {tuple(found) for found in answers.values()}
    return list(distinct.pop()) if len(distinct) == 1 else []


def _in_root(files: FileSet, root: str, wanted: Import) -> list[str]:
    place = "/".join(filter(None, (root, *wanted.name.split("."))))
    found = list(dict.fromkeys(_taken(files, place, wanted)))
    if wanted.name in sys.stdlib_module_names:
        # Only a package of that name with the very module: `types.py` beside a file is not `types`.
        return [each for each in found if each.startswith(f"{place}/") and "/__init__" not in each]
    return found


def _own_roots(view: View, words: list[str]) -> Iterator[str]:
    """The directories that are on the path when the file runs, the likeliest first.

    The one above its outermost package; those further up, where the name leads far enough to be
    none of another's, or to the file's own; and what the manifests above it say.
    """
    plain = [above for above in ancestors(view.path) if not view.files.has(_init(above))]
    yield from plain[:1]
    for root in plain[1:]:
        if len(words) > 1 or view.path.startswith(f"{root}/{words[0]}/".lstrip("/")):
            yield root
    for above in ancestors(view.path):
        yield from _roots_of(view, above)


def _init(directory: str) -> str:
    return posixpath.join(directory, "__init__.py")


def _roots_of(view: View, directory: str) -> Iterator[str]:
    """The source roots that the manifests in a directory name or, by custom, imply."""
    listed: list[str] = []
    for name in ("pyproject.toml", "setup.cfg"):
        listed += view.project.at(directory, name).get("roots", [])
    if view.files.has(posixpath.join(directory, "setup.py")) or not directory:
        listed += ["", "src"]
    for each in dict.fromkeys(listed):
        found = join(directory, each)
        if found is not None:
            yield found


def _all_roots(view: View) -> set[str]:
    directories = {"", *map(directory_of, view.files.ending_with("setup.py"))}
    for name in ("pyproject.toml", "setup.cfg"):
        directories.update(view.project.directories(name))
    return {root for directory in directories for root in _roots_of(view, directory)}


def _only_package(files: FileSet, holders: set[str], wanted: Import) -> dict[str, list[str]]:
    """The answer of the only directory that holds an outermost package of that name."""
    top = wanted.name.partition(".")[0]
    roots = [
        root
        for root in sorted(holders)
        if files.has(_init(posixpath.join(root, top))) and not files.has(_init(root))
    ]
    return {roots[0]: _in_root(files, roots[0], wanted)} if len(roots) == 1 else {}
