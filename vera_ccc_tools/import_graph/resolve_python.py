"""Python's modules: relative ones exactly, others by what can be on ``sys.path``."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterator

from vera_ccc_tools.import_graph.facts import Facts, Import
from vera_ccc_tools.import_graph.files import FileSet, ancestors, directory_of, join
from vera_ccc_tools.import_graph.manifests import Scope

# A package comes before a module of its name, as in `importlib.machinery.FileFinder`.
_FORMS = ("{}/__init__.py", "{}.py", "{}.pyi", "{}/__init__.pyi", "{}.pyx")


def python(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    """The modules that the file at *path* imports: of ``from a import b`` the file of ``a.b``, if
    that is a module, else the file of ``a``."""  # noqa: D205, D209 - one sentence
    for each in facts.imports:
        if each.name.startswith("."):
            yield from _relative(scope.files, path, each)
        else:
            yield from _absolute(scope, path, each)


def _relative(files: FileSet, path: str, wanted: Import) -> Iterator[str]:
    module = wanted.name.lstrip(".")
    base: str | None = directory_of(path)
    for _ in range(len(wanted.name) - len(module) - 1):
        base = directory_of(base) if base else None
    if base is not None:
        words = module.split(".") if module else []
        yield from _taken(files, "/".join(filter(None, (base, *words))), wanted)


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


def _absolute(scope: Scope, path: str, wanted: Import) -> list[str]:
    words = wanted.name.split(".")
    holders = scope.files.holders(words[0])
    for name in (words[-1], *wanted.names):
        scope.files.expect(name)
    if not holders:
        return []
    for root in _own_roots(scope, path, words):
        if root in holders and (found := _in_root(scope.files, root, wanted)):
            return found
    answers = {
        root: found
        for root in sorted(_all_roots(scope) & holders)
        if (found := _in_root(scope.files, root, wanted))
    }
    if not answers:
        answers = _only_package(scope.files, holders, wanted)
    distinct = {tuple(found) for found in answers.values()}
    return list(distinct.pop()) if len(distinct) == 1 else []


def _in_root(files: FileSet, root: str, wanted: Import) -> list[str]:
    place = "/".join(filter(None, (root, *wanted.name.split("."))))
    found = list(dict.fromkeys(_taken(files, place, wanted)))
    if wanted.name in sys.stdlib_module_names:
        # Only a package of that name with the very module: `types.py` beside a file is not `types`.
        return [each for each in found if each.startswith(f"{place}/") and "/__init__" not in each]
    return found


def _own_roots(scope: Scope, path: str, words: list[str]) -> Iterator[str]:
    """The directories that are on the path when the file runs, the likeliest first.

    The one above its outermost package; those further up, where the name leads far enough to be
    none of another's, or to the file's own; and what the manifests above it say.
    """
    plain = [above for above in ancestors(path) if not scope.files.has(_init(above))]
    yield from plain[:1]
    for root in plain[1:]:
        if len(words) > 1 or path.startswith(f"{root}/{words[0]}/".lstrip("/")):
            yield root
    for above in ancestors(path):
        yield from _roots_of(scope, above)


def _init(directory: str) -> str:
    return posixpath.join(directory, "__init__.py")


def _roots_of(scope: Scope, directory: str) -> Iterator[str]:
    """The source roots that the manifests in a directory name or, by custom, imply."""
    listed: list[str] = []
    for name in ("pyproject.toml", "setup.cfg"):
        listed += (scope.project.at(directory, name) or {}).get("roots", [])
    if scope.files.has(posixpath.join(directory, "setup.py")) or not directory:
        listed += ["", "src"]
    for each in dict.fromkeys(listed):
        found = join(directory, each)
        if found is not None:
            yield found


def _all_roots(scope: Scope) -> set[str]:
    directories = {"", *map(directory_of, scope.files.ending_with("setup.py"))}
    for name in ("pyproject.toml", "setup.cfg"):
        directories.update(scope.project.directories(name))
    return {root for directory in directories for root in _roots_of(scope, directory)}


def _only_package(files: FileSet, holders: set[str], wanted: Import) -> dict[str, list[str]]:
    """The answer of the only directory that holds an outermost package of that name."""
    top = wanted.name.partition(".")[0]
    roots = [
        root
        for root in sorted(holders)
        if files.has(_init(posixpath.join(root, top))) and not files.has(_init(root))
    ]
    return {roots[0]: _in_root(files, roots[0], wanted)} if len(roots) == 1 else {}
