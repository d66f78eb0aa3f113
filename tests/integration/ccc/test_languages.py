"""The names of languages are those of ccc's engine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from vera_ccc_tools.ccc import languages

ENGINE = """
import json, sys
from cocoindex.ops.text import detect_code_language
names = json.load(sys.stdin)
json.dump(sorted({detect_code_language(filename=name) for name in names} - {None}), sys.stdout)
"""
EXTENSIONS = """
    ada as asm bash bib bzl c cc clj cljc cmake cpp cs csproj css csv cu cxx d dart dockerfile dpr
    dtd el elm erl ex exs f f03 f90 f95 fish fs fsi fsx gd gleam go gql gradle graphql groovy h ha
    hcl hh hpp hs htm html hx hxx ini java jl js json jsonl jsx kdl kt kts ld lisp ll lua md mdx
    mk mjs mmd nim nix pas pem php pl pm po pp prisma proto ps1 psv py pyi qml r rb rbs re rkt ron
    rs rst scala scss sh sol sql ss svelte swift tcl td tex tf thrift toml ts tsv tsx txt typ vh
    vhd vim vue wast wat xml yaml yml zig zsh
""".split()


def test_the_known_names_are_those_that_the_engine_gives(ccc_python: Path) -> None:
    done = subprocess.run(
        [str(ccc_python), "-c", ENGINE],
        input=json.dumps([f"x.{each}" for each in EXTENSIONS]).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    given_by_engine = set(json.loads(done.stdout.splitlines()[-1]))
    assert given_by_engine <= languages.KNOWN
    assert {"python", "typescript", "javascript", "cpp", "csharp", "bash"} <= given_by_engine
