"""Small projects in memory: what their files import, read and resolved as the graph does it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from vera_ccc_tools.context import manifests
from vera_ccc_tools.context.facts import Facts
from vera_ccc_tools.context.filetree import Files
from vera_ccc_tools.context.imports import Reader
from vera_ccc_tools.context.listing import language_of
from vera_ccc_tools.context.resolve import resolve
from vera_ccc_tools.context.scope import Scope

READER = Reader()


def facts(path: str, source: str | bytes) -> Facts:
    """What the file says of itself, after it was kept and taken out again."""
    language = language_of(path)
    assert language is not None
    data = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    found = READER.facts(language, data)
    assert found is not None
    return Facts.from_json(found.to_json())


def imports(path: str, source: str | bytes) -> list[tuple[str, ...]]:
    """The imports of a file as ``(kind, name, *names)``."""
    return [(each.kind, each.name, *each.names) for each in facts(path, source).imports]


def edges(tree: Mapping[str, str | bytes]) -> dict[str, list[str]]:
    """What each file of a project imports, without the files that import nothing of it."""
    said = {path: facts(path, source) for path, source in tree.items() if language_of(path)}
    told = {
        path: json.loads(json.dumps(manifests.read(path, source.encode())))
        for path, source in tree.items()
        if manifests.is_manifest(path) and isinstance(source, str)
    }
    scope = Scope(
        Files({path: each.provides for path, each in said.items()}), manifests.Project(told)
    )
    found = {
        path: list(resolve(scope, path, language_of(path) or "", each).targets)
        for path, each in said.items()
    }
    return {path: targets for path, targets in found.items() if targets}
