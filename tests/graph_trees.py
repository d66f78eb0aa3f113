"""Small projects in memory: what their files import, read and resolved as the graph does it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from vera_ccc_tools.chunks.grammars import language_of
from vera_ccc_tools.import_graph import manifests
from vera_ccc_tools.import_graph.facts import Facts
from vera_ccc_tools.import_graph.files import FileSet, keys_of
from vera_ccc_tools.import_graph.manifests import Scope
from vera_ccc_tools.import_graph.read import SourceReader
from vera_ccc_tools.import_graph.resolve import Resolved, resolve

READER = SourceReader()


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
    """What each file of a project imports, without the files that import nothing of it.

    Holds too that an update would notice each file that comes or goes, by the keys it has.
    """
    said = {path: facts(path, source) for path, source in tree.items() if language_of(path)}
    told = {
        path: json.loads(json.dumps(manifests.read(path, source.encode())))
        for path, source in tree.items()
        if manifests.is_manifest(path) and isinstance(source, str)
    }
    found = _resolved(said, told)
    for path, each in said.items():
        others = {name: one for name, one in said.items() if name != path}
        without, keys = _resolved(others, told), keys_of(path, each.provides)
        for name, (targets, looked_up) in without.items():
            if targets != found[name].targets:
                assert keys & looked_up, f"{name} does not notice that {path} comes"
                assert keys & found[name].keys, f"{name} does not notice that {path} goes"
    return {path: list(each.targets) for path, each in found.items() if each.targets}


def _resolved(
    said: Mapping[str, Facts], told: Mapping[str, manifests.Manifest]
) -> dict[str, Resolved]:
    files = FileSet({path: each.provides for path, each in said.items()})
    scope = Scope(files, manifests.Manifests(told))
    return {
        path: resolve(scope, path, language_of(path) or "", each) for path, each in said.items()
    }
