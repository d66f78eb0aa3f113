"""From what a file imports to files of the project; pure, over the set of its files.

A resolver finds the files of one import, as its language does; None among them is no file.

What is ambiguous or external resolves to nothing: a wrong neighbour costs more than a missing one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from vera_ccc_tools.import_graph.facts import Facts, Import
from vera_ccc_tools.import_graph.files import ancestors, directory_of, join, only
from vera_ccc_tools.import_graph.manifests import Scope, View
from vera_ccc_tools.import_graph.resolve_javascript import ecmascript
from vera_ccc_tools.import_graph.resolve_python import python
from vera_ccc_tools.import_graph.resolve_rust import rust


class Resolved(NamedTuple):
    """What one file imports.

    Attributes:
        targets: Files of the project, sorted, without the file itself.
        keys: What it was resolved with, see `files`.
    """

    targets: tuple[str, ...]
    keys: frozenset[int]


def resolve(scope: Scope, path: str, language: str, facts: Facts) -> Resolved:
    """Find the files that the file at *path*, which says *facts* of itself, imports."""
    scope.files.trace.clear()
    view = View(scope.files, scope.project, path, facts.uses)
    found = {target for each in facts.imports for target in _LANGUAGES[language](view, each)}
    targets = sorted(target for target in found if target and target != path)
    return Resolved(tuple(targets), frozenset(scope.files.trace))


# --- Go ------------------------------------------------------------------------------------------


def _go(view: View, wanted: Import) -> list[str]:
    directory = _go_package(view, wanted.name)
    listed = [] if directory is None else view.files.directly_in(directory)
    return [file for file in listed if file.endswith(".go") and not file.endswith("_test.go")]


def _go_package(view: View, name: str) -> str | None:
    module = name
    while module:
        directories = view.project.where("go.mod", "module", module)
        if directories:
            home = _own_or_only(view.path, directories)
            found = None if home is None else join(home, name[len(module) + 1 :])
            if found is None or view.project.nearest(f"{found}/x", "go.mod") != home:
                return None  # it would be in a module of another name
            return found
        module = module.rpartition("/")[0]
    vendors = (join(above, f"vendor/{name}") for above in ancestors(view.path))
    return next((each for each in vendors if each and view.files.directly_in(each)), None)


def _own_or_only(path: str, directories: list[str]) -> str | None:
    """The nearest of *directories* above the file at *path*, or the one there is."""
    own = next((above for above in ancestors(path) if above in directories), None)
    return only(directories) if own is None else own


# --- Java ----------------------------------------------------------------------------------------


def _java(view: View, wanted: Import) -> list[str | None]:
    place = wanted.name.replace(".", "/")
    if wanted.kind == "star":
        names_a_type = place.rpartition("/")[2][:1].isupper()  # the star is for its members
        places = [place] if names_a_type else [f"{place}/{name}" for name in view.uses]
        return [_java_type(view, each) for each in places]
    found = _java_type(view, place)
    # A member, or a type inside another: packages are lower case by custom.
    while found is None and "/" in place and place.split("/")[-2][:1].isupper():
        place = place.rpartition("/")[0]
        found = _java_type(view, place)
    return [found]


def _java_type(view: View, place: str) -> str | None:
    """The only file of that name, or the only one in the same source root, or the same module."""
    candidates = view.files.ending_with(f"{place}.java")
    root = -len(f"{place}.java")
    rooted = [each for each in candidates if view.path.startswith(each[:root])]
    mine = [each for each in candidates if _module_of(each) == _module_of(view.path)]
    return only(candidates) or only(rooted) or only(mine)


def _module_of(path: str) -> str:
    """What is above ``src/``, by the custom of Maven and Gradle."""
    return f"/{path}".partition("/src/")[0] if "/src/" in f"/{path}" else path


# --- Ruby ----------------------------------------------------------------------------------------


def _ruby(view: View, wanted: Import) -> list[str | None]:
    name = wanted.name if wanted.name.endswith(".rb") else f"{wanted.name}.rb"
    if wanted.kind == "relative":
        return [view.files.first([view.beside(name)])]
    if wanted.kind == "load" or name.startswith("."):
        return [_from_root_or_here(view, name)]
    return [_on_load_path(view, name)]


def _from_root_or_here(view: View, name: str) -> str | None:
    """A path from the working directory, which is one of two; nothing when both are right."""
    places = {view.files.first([place]) for place in (join("", name), view.beside(name))}
    return only([place for place in places if place])


def _on_load_path(view: View, name: str) -> str | None:
    for above in ancestors(view.path):
        tests = posixpath.basename(above) in {"spec", "test"}
        places = [f"lib/{name}", name] if tests else [f"lib/{name}"]
        found = view.files.first(join(above, place) for place in places)
        if found is not None:
            return found
    return only(view.files.ending_with(f"lib/{name}"))


# --- C and C++ -----------------------------------------------------------------------------------

_INCLUDE_DIRECTORIES = ("include", "inc", "includes")
_SOURCE_DIRECTORIES = ("src", "source", "lib", "public", "Public", "Source")


def _c(view: View, wanted: Import) -> list[str | None]:
    near = [view.beside(wanted.name)] if wanted.kind == "quote" else []
    return [view.files.first(near) or _on_include_path(view, wanted)]


def _on_include_path(view: View, include: Import) -> str | None:
    """The header in the nearest usual include directory, or the only one that ends so.

    ``<name.h>`` without a directory is a system's header unless an include directory holds it.
    """
    name = posixpath.normpath(include.name)
    if name.startswith((".", "/")):
        return None
    candidates = view.files.ending_with(name)
    bare = include.kind == "angle" and "/" not in name
    usual = _INCLUDE_DIRECTORIES if bare else ("", *_INCLUDE_DIRECTORIES, *_SOURCE_DIRECTORIES)
    roots = {each[: -len(name)].rstrip("/"): each for each in candidates}
    for above in ancestors(view.path):
        near = {join(above, directory) for directory in usual} & roots.keys()
        if near:
            return only([roots[each or ""] for each in near])
    return None if bare else only(candidates)


# --- C# and PHP ----------------------------------------------------------------------------------


def _csharp(view: View, wanted: Import) -> Iterable[str]:
    """The files that declare the types which the file mentions, of a namespace that it opens."""
    if wanted.kind == "namespace":
        types = view.files.types(wanted.name)
        found = [_parts(types[name]) for name in types.keys() & set(view.uses)]
        return chain.from_iterable(found)
    namespace, _, last = wanted.name.rpartition(".")
    outer, _, holder = namespace.rpartition(".")
    declaring = view.files.types(namespace).get(last) or view.files.types(outer).get(holder)
    return _parts(declaring or [])


def _parts(declaring: list[str]) -> list[str]:
    """The parts of one partial type stand together; elsewhere it is another of that name."""
    return declaring if len({directory_of(path) for path in declaring}) == 1 else []


def _php(view: View, wanted: Import) -> list[str | None]:
    if wanted.kind == "here":
        return [view.files.first([view.beside(wanted.name)])]
    if wanted.kind == "file":
        return [_from_root_or_here(view, wanted.name)]
    namespace, _, last = wanted.name.replace("\\", ".").rpartition(".")
    found = _psr4(view, wanted.name)
    return [found or only(view.files.types(namespace).get(last, []))]


def _psr4(view: View, name: str) -> str | None:
    """The class by the nearest ``composer.json``, else by the only one that knows it."""
    found: dict[str, str] = {}
    for directory in view.project.directories("composer.json"):
        manifest = view.project.at(directory, "composer.json")
        first = view.files.first(
            join(directory, posixpath.join(to, name[len(prefix) :].replace("\\", "/") + ".php"))
            for prefix, to in sorted(manifest.get("psr-4", []), key=lambda pair: -len(pair[0]))
            if name.startswith(prefix)
        )
        if first is not None:
            found[directory] = first
    nearest = _own_or_only(view.path, list(found))
    return found[nearest] if nearest is not None else None


# --- Markdown ------------------------------------------------------------------------------------


def _markdown(view: View, wanted: Import) -> list[str | None]:
    name = wanted.name
    place = join("", name.lstrip("/")) if name.startswith("/") else view.beside(name)
    ends = ("", ".md", ".mdx", "/README.md") if place else ()
    return [view.files.first(f"{place}{end}" for end in ends)]


_LANGUAGES: dict[str, Callable[[View, Import], Iterable[str | None]]] = {
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
