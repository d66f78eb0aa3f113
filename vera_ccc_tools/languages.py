"""The names by which people and models call languages, as ccc calls them.

ccc's names are those of its engine (``cocoindex.ops.text.detect_code_language``, 1.0.26): lower
case and whole. It finds nothing, without a word, for any other.
"""

from __future__ import annotations

from vera_ccc_tools.errors import InvalidArgument, shorten

KNOWN = frozenset(
    """
    bash c clojure cpp csharp css d dart dockerfile dtd elixir erlang fortran go graphql haskell
    hcl html ini java javascript json julia kotlin lua markdown nim pascal perl php proto python
    r rst ruby rust scala sh solidity sql svelte swift text toml tsx typescript vue xml yaml zig
    """.split()
)

ALIASES = {
    "c#": ("csharp",),
    "c++": ("cpp",),
    "cc": ("cpp",),
    "cs": ("csharp",),
    "cxx": ("cpp",),
    "delphi": ("pascal",),
    "docker": ("dockerfile",),
    "ex": ("elixir",),
    "f90": ("fortran",),
    "golang": ("go",),
    "hs": ("haskell",),
    "htm": ("html",),
    "js": ("javascript",),
    "jsx": ("javascript",),
    "kt": ("kotlin",),
    "md": ("markdown",),
    "mdx": ("markdown",),
    "node": ("javascript",),
    "objectpascal": ("pascal",),
    "pl": ("perl",),
    "plaintext": ("text",),
    "protobuf": ("proto",),
    "py": ("python",),
    "python3": ("python",),
    "rb": ("ruby",),
    "restructuredtext": ("rst",),
    "rs": ("rust",),
    "scss": ("css",),
    "shell": ("bash", "sh"),
    "sol": ("solidity",),
    "terraform": ("hcl",),
    "tf": ("hcl",),
    "ts": ("typescript",),
    "txt": ("text",),
    "yml": ("yaml",),
    "zsh": ("sh", "bash"),
}


def canonical(names: tuple[str, ...]) -> tuple[str, ...]:
    """ccc's names for *names*, in order, each once; unknown ones in lower case as they are."""
    folded = [name.strip().lower() for name in names]
    return tuple(dict.fromkeys(known for name in folded for known in ALIASES.get(name, (name,))))


def check(names: tuple[str, ...], indexed: tuple[str, ...]) -> None:
    """Refuse languages of which the index holds nothing.

    Raises:
        InvalidArgument: When none of *names* (ccc's) is among the *indexed* ones, or one is
            neither indexed nor a language that ccc knows.
    """
    unknown = [name for name in names if name not in indexed and name not in KNOWN]
    if unknown or not set(names) & set(indexed):
        named = ", ".join(shorten(name) for name in (unknown or names))
        held = ", ".join(indexed) or "nothing yet"
        verb = "is no language" if len(unknown or names) == 1 else "are no languages"
        raise InvalidArgument(
            f"`languages`: {named} {verb} of this index, which holds: {held}.",
            "Use names from that list, or leave `languages` out.",
        )
