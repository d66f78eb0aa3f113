"""What one file says of itself, and how that is kept: its imports, what it provides and uses."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Import:
    """One import as it stands in the source.

    Attributes:
        kind: How *name* is to be read; each language has its own, see `imports`.
        name: The specifier: ``..pkg.mod``, ``./a.js``, ``crate::a::B``, ``com.acme.Thing``.
        names: What is taken from it, where a name may be a file of its own (Python).
    """

    kind: str
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What one source file says of itself.

    Attributes:
        imports: Its imports, each once, in the order in which they first stand there.
        provides: Whole names of the types it declares, in languages whose imports name types
            and not files (C#, PHP).
        uses: Names of types that it mentions, where an import opens a whole namespace.
    """

    imports: tuple[Import, ...] = ()
    provides: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    def to_json(self) -> str:
        listed = [[each.kind, each.name, *each.names] for each in self.imports]
        return json.dumps([listed, self.provides, self.uses])

    @classmethod
    def from_json(cls, text: str) -> Facts:
        listed, provides, uses = json.loads(text)
        imports = tuple(Import(kind, name, tuple(names)) for kind, name, *names in listed)
        return cls(imports, tuple(provides), tuple(uses))
