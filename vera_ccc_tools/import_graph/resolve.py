"""From what a file imports to files of the project; pure, over the set of its files.

What is ambiguous or external resolves to nothing: a wrong neighbour costs more than a missing one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from vera_ccc_tools.import_graph.facts import Facts, Import
from vera_ccc_tools.import_graph.files import FileSet, ancestors, directory_of, join
from vera_ccc_tools.import_graph.manifests import Scope
from vera_ccc_tools.import_graph.resolve_javascript import ecmascript
from vera_ccc_tools.import_graph.resolve_python import python
from vera_ccc_tools.import_graph.resolve_rust import rust


class Resolved(NamedTuple):
    """What one file imports.

    Attributes:
        targets: FileSet of the project, sorted, without the file itself.
        keys: What it was resolved with, see `files`.
    """

    targets: tuple[str, ...]
    keys: frozenset[int]


def resolve(scope: Scope, path: str, language: str, facts: Facts) -> Resolved:
    """Find the files that the file at *path*, which says *facts* of itself, imports."""
    scope.files.trace.clear()
    targets = set(_LANGUAGES[language](scope, path, facts))
    targets.discard(path)
    return Resolved(tuple(sorted(targets)), frozenset(scope.files.trace))


# --- Go ------------------------------------------------------------------------------------------


def _go(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        directory = _go_package(scope, path, each.name)
        if directory is not None:
            listed = scope.files.directly_in(directory)
            yield from (
                file for file in listed if file.endswith(".go") and not file.endswith("_test.go")
            )


def _go_package(scope: Scope, path: str, name: str) -> str | None:
    module = name
    while module:
        directories = scope.project.where("go.mod", "module", module)
        if directories:
            home = _own_or_only(path, directories)
            found = None if home is None else join(home, name[len(module) + 1 :])
            if found is None or scope.project.nearest(f"{found}/x", "go.mod") != home:
                return None  # it would be in a module of another name
            return found
        module = module.rpartition("/")[0]
    vendors = (join(above, f"vendor/{name}") for above in ancestors(path))
    return next((each for each in vendors if each and scope.files.directly_in(each)), None)


def _own_or_only(path: str, directories: list[str]) -> str | None:
    """The nearest of *directories* above the file at *path*, or the one there is."""
    own = next((above for above in ancestors(path) if above in directories), None)
    return own if own is not None or len(directories) != 1 else directories[0]


# --- Java ----------------------------------------------------------------------------------------


def _java(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        place = each.name.replace(".", "/")
        if each.kind == "star":
            yield from _java_star(scope, path, place, facts.uses)
            continue
        found = _java_type(scope, path, place)
        while found is None and "/" in place and _names_a_type(place):
            place = place.rpartition("/")[0]  # a member, or a type inside another
            found = _java_type(scope, path, place)
        if found is not None:
            yield found


def _names_a_type(place: str) -> bool:
    """Whether what holds the last name is a type, by the custom that packages are lower case."""
    return place.split("/")[-2][:1].isupper()


def _java_type(scope: Scope, path: str, place: str) -> str | None:
    return _of_my_module(path, scope.files.ending_with(f"{place}.java"), f"{place}.java")


def _java_star(scope: Scope, path: str, place: str, uses: Iterable[str]) -> Iterator[str]:
    if place.rpartition("/")[2][:1].isupper():  # the members of a type
        found = _java_type(scope, path, place)
        if found is not None:
            yield found
        return
    for name in uses:
        found = _java_type(scope, path, f"{place}/{name}")
        if found is not None:
            yield found


def _of_my_module(path: str, candidates: list[str], suffix: str) -> str | None:
    """The only candidate, or the only one in the source root, or the module, that *path* is in.

    A module is what is above ``src/``, by the custom of Maven and Gradle.
    """
    if len(candidates) <= 1:
        return candidates[0] if candidates else None
    rooted = [each for each in candidates if path.startswith(each[: -len(suffix)])]
    mine = [each for each in candidates if _module_of(each) == _module_of(path)]
    return next((few[0] for few in (rooted, mine) if len(few) == 1), None)


def _module_of(path: str) -> str:
    return f"/{path}".partition("/src/")[0] if "/src/" in f"/{path}" else path


# --- Ruby ----------------------------------------------------------------------------------------


def _ruby(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        name = each.name if each.name.endswith(".rb") else f"{each.name}.rb"
        if each.kind == "relative":
            found = _there(scope.files, join(directory_of(path), name))
        elif each.kind == "load" or name.startswith("."):
            found = _from_root_or_here(scope.files, path, name)
        else:
            found = _on_load_path(scope.files, path, name)
        if found is not None:
            yield found


def _there(files: FileSet, path: str | None) -> str | None:
    return path if path is not None and files.has(path) else None


def _from_root_or_here(files: FileSet, path: str, name: str) -> str | None:
    """A path from the working directory, which is one of two; nothing when both are right."""
    places = {_there(files, join("", name)), _there(files, join(directory_of(path), name))}
    places.discard(None)
    return places.pop() if len(places) == 1 else None


def _on_load_path(files: FileSet, path: str, name: str) -> str | None:
    for above in ancestors(path):
        tests = posixpath.basename(above) in {"spec", "test"}
        for directory in ("lib", "") if tests else ("lib",):
            found = _there(files, join(above, posixpath.join(directory, name)))
            if found is not None:
                return found
    others = files.ending_with(f"lib/{name}")
    return others[0] if len(others) == 1 else None


# --- C and C++ -----------------------------------------------------------------------------------

_INCLUDE_DIRECTORIES = ("include", "inc", "includes")
_SOURCE_DIRECTORIES = ("src", "source", "lib", "public", "Public", "Source")


def _c(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        found = None
        if each.kind == "quote":
            found = _there(scope.files, join(directory_of(path), each.name))
        found = found or _on_include_path(scope.files, path, each)
        if found is not None:
            yield found


def _on_include_path(files: FileSet, path: str, include: Import) -> str | None:
    """The header in the nearest usual include directory, or the only one that ends so.

    ``<name.h>`` without a directory is a system's header unless an include directory holds it.
    """
    name = posixpath.normpath(include.name)
    if name.startswith((".", "/")):
        return None
    candidates = files.ending_with(name)
    bare = include.kind == "angle" and "/" not in name
    usual = _INCLUDE_DIRECTORIES if bare else ("", *_INCLUDE_DIRECTORIES, *_SOURCE_DIRECTORIES)
    roots = {each[: -len(name)].rstrip("/"): each for each in candidates}
    for above in ancestors(path):
        near = {join(above, directory) for directory in usual} & roots.keys()
        if near:
            return roots[near.pop() or ""] if len(near) == 1 else None
    return candidates[0] if len(candidates) == 1 and not bare else None


# --- C# and PHP ----------------------------------------------------------------------------------


def _csharp(scope: Scope, _path: str, facts: Facts) -> Iterator[str]:
    """The files that declare the types which the file mentions, of the namespaces it opens."""
    for each in facts.imports:
        if each.kind == "namespace":
            types = scope.files.types(each.name)
            for name in types.keys() & set(facts.uses):
                yield from _parts(types[name])
        else:
            yield from _declaring(scope.files, each.name)


def _declaring(files: FileSet, name: str) -> list[str]:
    """The files that declare a type, or the type that it is in."""
    namespace, _, last = name.rpartition(".")
    outer, _, holder = namespace.rpartition(".")
    return _parts(files.types(namespace).get(last) or files.types(outer).get(holder) or [])


def _parts(declaring: list[str]) -> list[str]:
    """The parts of one partial type stand together; elsewhere it is another of that name."""
    return declaring if len({directory_of(path) for path in declaring}) == 1 else []


def _php(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        if each.kind == "here":
            found = _there(scope.files, join(directory_of(path), each.name))
        elif each.kind == "file":
            found = _from_root_or_here(scope.files, path, each.name)
        else:
            found = _psr4(scope, path, each.name) or _declared(scope.files, each.name)
        if found is not None:
            yield found


def _psr4(scope: Scope, path: str, name: str) -> str | None:
    """The class by the nearest ``composer.json``, else by the only one that knows it."""
    found: dict[str, str] = {}
    for directory in scope.project.directories("composer.json"):
        manifest = scope.project.at(directory, "composer.json") or {}
        places = [
            join(directory, posixpath.join(to, name[len(prefix) :].replace("\\", "/") + ".php"))
            for prefix, to in sorted(manifest.get("psr-4", []), key=lambda pair: -len(pair[0]))
            if name.startswith(prefix)
        ]
        first = scope.files.first(place for place in places if place)
        if first is not None:
            found[directory] = first
    nearest = _own_or_only(path, list(found))
    return found[nearest] if nearest is not None else None


def _declared(files: FileSet, name: str) -> str | None:
    namespace, _, last = name.replace("\\", ".").rpartition(".")
    declaring = files.types(namespace).get(last, [])
    return declaring[0] if len(declaring) == 1 else None


# --- Markdown ------------------------------------------------------------------------------------


def _markdown(scope: Scope, path: str, facts: Facts) -> Iterator[str]:
    for each in facts.imports:
        absolute = each.name.startswith("/")
        place = join("" if absolute else directory_of(path), each.name.lstrip("/"))
        if place:
            found = scope.files.first(place + end for end in ("", ".md", ".mdx", "/README.md"))
            if found is not None:
                yield found


_LANGUAGES: dict[str, Callable[[Scope, str, Facts], Iterator[str]]] = {
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
    "go": _go,
    "java": _java,
    "javascript": ecmascript,
    "markdown": _markdown,
    "php": _php,
    "python": python,
    "ruby": _ruby,
    "rust": rust,
    "tsx": ecmascript,
    "typescript": ecmascript,
}
