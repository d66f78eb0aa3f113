"""The files that say how a project's imports are resolved, each brought down to what matters.

`read` makes a small dict of a manifest's text, which is kept; a manifest that changes in anything
else changes no import. What is broken or of another form says nothing.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from vera_ccc_tools.import_graph.files import FileSet, ancestors, directory_of, join

Manifest = dict[str, Any]

_TSCONFIG = re.compile(r"(?:ts|js)config(?:\.[^/]*)?\.json")


def is_manifest(path: str) -> bool:
    """Whether the file at *path* is one of them."""
    return _reader(path.rpartition("/")[2]) is not None


def read(path: str, source: bytes) -> Manifest:
    """What the manifest at *path* says; empty where it says nothing of use."""
    reader = _reader(path.rpartition("/")[2])
    try:
        return {} if reader is None else reader(source.decode("utf-8-sig"))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _reader(name: str) -> Callable[[str], Manifest] | None:
    return _READERS.get(name) or (_tsconfig if _TSCONFIG.fullmatch(name) else None)


def _go_mod(text: str) -> Manifest:
    found = re.search(r'^\s*module\s+"?([^\s"]+)', text, re.MULTILINE)
    return {"module": found[1]} if found else {}


def _package(text: str) -> Manifest:
    found = json.loads(text)
    entries = [found.get(key) for key in ("source", "module", "main", "types", "typings")]
    return {
        "name": found["name"] if isinstance(found.get("name"), str) else "",
        "entries": [entry for entry in entries if isinstance(entry, str)],
        "exports": found.get("exports"),
        "imports": found.get("imports"),
    }


def _tsconfig(text: str) -> Manifest:
    found = json.loads(_without_comments(text))
    options = found.get("compilerOptions") or {}
    extends = found.get("extends") or []
    references = [each.get("path") for each in found.get("references") or []]
    return {
        "extends": [extends] if isinstance(extends, str) else extends,
        "references": [path for path in references if isinstance(path, str)],
        "baseUrl": options.get("baseUrl"),
        "paths": {
            key: [to for to in targets if isinstance(to, str)]
            for key, targets in (options.get("paths") or {}).items()
        }
        or None,
    }


_JSON_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def _without_comments(text: str) -> str:
    """JSON out of what tsc reads: comments and commas before a closing bracket, but in strings."""
    for _ in range(2):  # a comma may stand before a comment before the bracket
        text = _JSON_TOKEN.sub(lambda found: found[1] or "", text)
    return text


def _cargo(text: str) -> Manifest:
    found = tomllib.loads(text)
    package, lib = found.get("package") or {}, found.get("lib") or {}
    workspace = found.get("workspace") or {}
    tables = [found, workspace, *(found.get("target") or {}).values()]
    dependencies = {
        name.replace("-", "_"): each["path"]
        for table in tables
        for kind in ("dependencies", "dev-dependencies", "build-dependencies")
        for name, each in (table.get(kind) or {}).items()
        if isinstance(each, dict) and isinstance(each.get("path"), str)
    }
    name = lib.get("name") or package.get("name") or ""
    return {
        "crate": name.replace("-", "_"),
        "lib": str(lib.get("path") or ""),
        "bins": [str(each["path"]) for each in found.get("bin") or [] if each.get("path")],
        "dependencies": dependencies,
    }


def _composer(text: str) -> Manifest:
    found = json.loads(text)
    prefixes = [
        [prefix, str(directory)]
        for key in ("autoload", "autoload-dev")
        for prefix, directories in ((found.get(key) or {}).get("psr-4") or {}).items()
        for directory in ([directories] if isinstance(directories, str) else directories)
    ]
    return {"psr-4": prefixes} if prefixes else {}


def _pyproject(text: str) -> Manifest:
    tool = tomllib.loads(text).get("tool") or {}
    setuptools = tool.get("setuptools") or {}
    where = ((setuptools.get("packages") or {}).get("find") or {}).get("where") or []
    where = [where] if isinstance(where, str) else where
    named = [(setuptools.get("package-dir") or {}).get("")]
    named += [each.get("from") for each in (tool.get("poetry") or {}).get("packages") or []]
    listed = ((tool.get("pytest") or {}).get("ini_options") or {}).get("pythonpath") or []
    named += listed.split() if isinstance(listed, str) else listed
    roots = ["", "src", *(path for path in (*where, *named) if isinstance(path, str))]
    return {"roots": list(dict.fromkeys(roots))}


def _setup(_text: str) -> Manifest:
    return {"roots": ["", "src"]}


class Manifests:
    """All manifests of a project, by path."""

    def __init__(self, manifests: Mapping[str, Manifest]) -> None:
        self.manifests = dict(sorted(manifests.items()))
        self._named: dict[str, list[str]] = {}
        for path in self.manifests:
            directory, _, name = path.rpartition("/")
            self._named.setdefault(name, []).append(directory)

    def has(self, directory: str, name: str) -> bool:
        return posixpath.join(directory, name) in self.manifests

    def at(self, directory: str, name: str) -> Manifest:
        """What the manifest says; nothing where there is none."""
        return self.manifests.get(posixpath.join(directory, name), {})

    def directories(self, name: str) -> list[str]:
        return self._named.get(name, [])

    def nearest(self, path: str, name: str) -> str | None:
        """The nearest directory from the file at *path* upward that holds such a manifest."""
        return next((each for each in ancestors(path) if self.has(each, name)), None)

    def where(self, name: str, key: str, value: str) -> list[str]:
        """The directories of the manifests called *name* that have *value* for *key*."""
        return self._values(name, key).get(value, [])

    @cache  # noqa: B019 - a project is dropped as a whole
    def _values(self, name: str, key: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for directory in self.directories(name):
            said = self.at(directory, name).get(key)
            if isinstance(said, str) and said:
                found.setdefault(said, []).append(directory)
        return found


_READERS: Mapping[str, Callable[[str], Manifest]] = {
    "Cargo.toml": _cargo,
    "composer.json": _composer,
    "go.mod": _go_mod,
    "package.json": _package,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The files of a project and what its manifests say."""

    files: FileSet
    project: Manifests


@dataclass(frozen=True, slots=True)
class View:
    """The project as one file of it sees it, which is what its imports are resolved in.

    Attributes:
        uses: As in `Facts`.
    """

    files: FileSet
    project: Manifests
    path: str
    uses: tuple[str, ...]

    def beside(self, name: str) -> str | None:
        """The path *name* from the file's own directory; None when it leaves the project."""
        return join(directory_of(self.path), name)
