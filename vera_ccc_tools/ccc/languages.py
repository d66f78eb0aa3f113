"""The names by which people and models call languages, as ccc calls them.

ccc's names are those of its engine (``cocoindex.ops.text.detect_code_language``, 1.0.26): lower
case and whole. It finds nothing, without a word, for any other.
"""

from __future__ import annotations

from vera_ccc_tools.errors import InvalidArgument, shorten

KNOWN = frozenset(
    """
    actionscript ada apex arduino asm astro bash bibtex bitbake c clojure cmake commonlisp cpp
    csharp css csv cuda d dart dockerfile dtd elisp elixir elm embeddedtemplate erlang fennel
    firrtl fish fortran fsharp gdscript gleam gn go graphql groovy hare haskell haxe hcl html
    hyprlang ini java javascript json julia kdl kotlin latex linkerscript llvm lua make
    markdown mermaid netlinx nim nix nqc pascal pem perl pgn php po powershell prisma proto psv
    puppet python qmljs r racket rbs re2c ron rst ruby rust scala scheme sh solidity sql
    squirrel starlark svelte swift tablegen tcl text thrift toml tsv tsx typescript typst
    uxntal verilog vhdl vim vue wast wat xml yaml zig
    """.split()
)

ALIASES = {
    "bazel": ("starlark",),
    "bzl": ("starlark",),
    "c#": ("csharp",),
    "c++": ("cpp",),
    "cc": ("cpp",),
    "cjs": ("javascript",),
    "clj": ("clojure",),
    "cs": ("csharp",),
    "cxx": ("cpp",),
    "delphi": ("pascal",),
    "docker": ("dockerfile",),
    "emacs-lisp": ("elisp",),
    "erl": ("erlang",),
    "ex": ("elixir",),
    "exs": ("elixir",),
    "f#": ("fsharp",),
    "f90": ("fortran",),
    "fs": ("fsharp",),
    "golang": ("go",),
    "gql": ("graphql",),
    "hpp": ("cpp",),
    "hs": ("haskell",),
    "htm": ("html",),
    "javascriptreact": ("javascript",),
    "jl": ("julia",),
    "js": ("javascript",),
    "jsonl": ("json",),
    "jsx": ("javascript",),
    "kt": ("kotlin",),
    "kts": ("kotlin",),
    "lisp": ("commonlisp",),
    "makefile": ("make",),
    "md": ("markdown",),
    "mdx": ("markdown",),
    "mjs": ("javascript",),
    "node": ("javascript",),
    "objectpascal": ("pascal",),
    "pas": ("pascal",),
    "pl": ("perl",),
    "plaintext": ("text",),
    "protobuf": ("proto",),
    "ps1": ("powershell",),
    "pwsh": ("powershell",),
    "py": ("python",),
    "pyi": ("python",),
    "python3": ("python",),
    "rb": ("ruby",),
    "restructuredtext": ("rst",),
    "rs": ("rust",),
    "scss": ("css",),
    "sh": ("bash", "sh"),
    "shell": ("bash", "sh"),
    "shellscript": ("bash", "sh"),
    "sol": ("solidity",),
    "terraform": ("hcl",),
    "tex": ("latex",),
    "tf": ("hcl",),
    "ts": ("typescript",),
    "txt": ("text",),
    "typescriptreact": ("tsx",),
    "yml": ("yaml",),
    "zsh": ("bash", "sh"),
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
