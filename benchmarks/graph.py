"""What the import graph costs: ``run.py graph [--files 30000] [--rounds 15]``.

A generated tree, a fifth of it source in ten languages whose files import one another. The graph
is built beside searches (`ccc_search` in the same process, over an index of a part of the tree, and
over the whole tree's git status), then brought up to date after single edits. Times of searches are
compared as ratios within the run; the machine's own noise is the spread of the searches alone. Of
an update the fastest counts: what else the machine does only adds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.playground import user
from benchmarks.search import WORDS
from vera_ccc_tools.system.environment import Environment

ROOT = Path(__file__).resolve().parent.parent
SOURCE_SHARE = 5
MOST_BUILD = 30.0
"""Seconds that the first build may take."""
MOST_UPDATE = 0.1
"""Seconds that an update after one edit may take, all in."""
MOST_HELD_UP = 1.3
"""How many times as long as alone a search may take beside the build."""
_IN_A_DIRECTORY = 40
_INDEXED = "d[1-9]*"
"""What is left out of ccc's index, which is not measured here: all directories but the first."""

Form = tuple[str, Callable[[str], str], Callable[[str, str], str]]


def _quoted(before: str, after: str = "") -> Callable[[str], str]:
    return lambda name: f"{before}{name}{after}\n"


FORMS: tuple[Form, ...] = (
    # the file's end, an import of a file beside it, and a function with some lines
    (".py", _quoted("from . import "), lambda n, b: f"def {n}(value):\n    return [{b}]\n\n\n"),
    (".ts", _quoted("import './", "';"), lambda n, b: f"export const {n} = () => [{b}];\n\n"),
    (
        ".tsx",
        _quoted("import './", "';"),
        lambda n, b: f"export const {n} = () => <p>{{{b}}}</p>;\n",
    ),
    (
        ".js",
        _quoted("require('./", ".js');"),
        lambda n, b: f"function {n}() {{ return [{b}]; }}\n\n",
    ),
    (".rb", _quoted("require_relative '", "'"), lambda n, b: f"def {n}(value)\n  [{b}]\nend\n\n"),
    (".h", _quoted('#include "', '.h"'), lambda n, b: f"int {n}(void) {{ return f({b}); }}\n\n"),
    (".rs", _quoted("mod ", ";"), lambda n, b: f"pub fn {n}() -> u32 {{ f({b}) }}\n\n"),
    (
        ".php",
        _quoted("require __DIR__ . '/", ".php';"),
        lambda n, b: f"function {n}() {{ f({b}); }}\n",
    ),
    (
        ".cs",
        _quoted("using Bench."),
        lambda n, b: f"class {n} {{ int F() {{ return G({b}); }} }}\n\n",
    ),
    (".md", _quoted("See [it](", ".md)."), lambda n, b: f"## {n}\n\nSome words about {b}.\n\n"),
)
START = {".php": "<?php\n"}


def source(end: str, names: Sequence[str], chance: random.Random) -> str:
    """A file of some 4 KB that imports the files *names* beside it."""
    _, imports, function = next(form for form in FORMS if form[0] == end)
    lines = [START.get(end, ""), *map(imports, names), "\n"]
    for number in range(50):
        words = chance.sample(WORDS, 4)
        body = ", ".join(f'"{word}"' for word in words) if end != ".md" else " ".join(words)
        lines.append(function(f"{words[0]}_{number}", body))
    return "".join(lines)


def write_tree(root: Path, files: int) -> list[Path]:
    """Write and commit the tree; return its Python files."""
    chance = random.Random(files)  # noqa: S311 - the same tree each time
    made = []
    for start in range(0, files, _IN_A_DIRECTORY):
        directory = root / f"d{start // _IN_A_DIRECTORY}"
        directory.mkdir(parents=True)
        end = FORMS[start // _IN_A_DIRECTORY % len(FORMS)][0]
        count = _IN_A_DIRECTORY // SOURCE_SHARE
        for number in range(_IN_A_DIRECTORY):
            if number >= count:
                (directory / f"data{number}.bin").write_bytes(b"data\n")
                continue
            beside = [f"f{other}" for other in chance.sample(range(count), 5) if other != number]
            path = directory / f"f{number}{end}"
            path.write_text(source(end, beside, chance), encoding="utf-8")
            if end == ".py":
                made.append(path)
    (root / ".gitignore").write_text("/.cocoindex_code/\n", encoding="utf-8")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "tree"]):
        subprocess.run(["git", *who, *words], cwd=root, check=True, timeout=300)  # noqa: S607
    return made


def main(argv: Sequence[str]) -> int:
    """Measure, print, and say which bounds are missed."""
    if argv and argv[0] == "--one":
        print(json.dumps(measure(Path(argv[1]), int(argv[2]))))
        return 0
    parser = argparse.ArgumentParser(prog="run.py graph", description=__doc__)
    parser.add_argument("--files", type=int, default=30_000, help="the size of the tree")
    parser.add_argument("--rounds", type=int, default=15, help="how often each update is made")
    options = parser.parse_args(argv)
    with user(sys.executable) as (base, environ, _ccc):
        root = base / "tree"
        write_tree(root, options.files)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.graph", "--one", str(root), str(options.rounds)],
            stdout=subprocess.PIPE,
            check=True,
            env=environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "scripts")))},
        )
    return report(options.files, json.loads(done.stdout))


# --- the measuring process -----------------------------------------------------------------------


def measure(root: Path, rounds: int) -> dict[str, Any]:
    """Build and update the graph of *root*, with searches beside it."""
    from vera_ccc_tools.import_graph.graph import Graph
    from vera_ccc_tools.system.tasks import Cancel

    search = searcher(root)
    alone = [timed(search) for _ in range(rounds)]
    graph = Graph(root, Environment())
    began = time.perf_counter()
    graph.start(Cancel())
    beside = []
    while graph.building:
        beside.append(timed(search))
    built = time.perf_counter() - began
    state = graph.state()
    assert state.ready, state
    alone += [timed(search) for _ in range(rounds)]
    found = {
        "alone": alone,
        "beside": beside[:-1] or beside,  # the last one ends after the build
        "built": built,
        "files": state.files,
        "edges": state.edges,
        "bytes": sum(each.stat().st_size for each in root.glob(".cocoindex_code/.vera-import*")),
        **updates(root, graph, rounds),
        **build_alone(root),
    }
    graph.close()
    return found


def searcher(root: Path) -> Callable[[], object]:
    """Index a part of the tree, and give a search over it that waits for no index run."""
    from vera_ccc_tools.system.call import Call
    from vera_ccc_tools.tools import table
    from vera_ccc_tools.tools.session import Session

    session = Session()

    def call(tool: str, arguments: dict[str, Any]) -> None:
        result = table.call_tool(session, tool, arguments, Call(root))
        assert not result["isError"], result

    call("ccc_init", {})
    settings = root / ".cocoindex_code" / "settings.yml"
    settings.write_text(f"exclude_patterns:\n  - {_INDEXED!r}\n", encoding="utf-8")
    call("ccc_index", {})
    arguments = {"query": "parse the settings of module"}
    call("ccc_search", arguments)
    return lambda: call("ccc_search", arguments)


def updates(root: Path, graph: Any, rounds: int) -> dict[str, list[float]]:
    """Time updates with nothing new, after an edit, and after a file came; and git's part."""
    from vera_ccc_tools.git.git import Git

    paths = sorted(root.glob("d*/f*.py"))[-rounds:]
    found: dict[str, list[float]] = defaultdict(list)
    git = Git.find(Environment())

    def update() -> None:
        assert graph.update()

    for number, path in enumerate(paths):
        found["git alone"].append(timed(partial(git.listed, root)))
        found["unchanged"].append(timed(update))
        path.write_text(f"from . import f1, f{number % 4 + 2}\n", encoding="utf-8")
        found["edited"].append(timed(update))
        assert len(graph.imports(path.relative_to(root).as_posix())) in {1, 2}
        path.with_name("new.py").write_text("from . import f1\n", encoding="utf-8")
        found["added"].append(timed(update))
        name = path.with_name("f1.py").relative_to(root).as_posix()
        found["asked"].append(timed(partial(graph.neighbours, name)))
    return found


def build_alone(root: Path) -> dict[str, float]:
    """Build once more, into another file and with nothing beside it: time, memory."""
    command = [sys.executable, "-P", "-m", "vera_ccc_tools.import_graph.build"]
    began = time.perf_counter()
    child = subprocess.Popen([*command, str(root), str(root / ".git" / "graph.db")])
    usage = os.wait4(child.pid, 0)[2] if sys.platform != "win32" else None
    child.wait()
    unit = 1 if sys.platform == "darwin" else 1024
    peak = 0.0 if usage is None else usage.ru_maxrss * unit / 1e6
    return {"built_alone": time.perf_counter() - began, "peak": peak}


def timed(run: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


# --- the report ----------------------------------------------------------------------------------


def report(files: int, found: dict[str, Any]) -> int:
    """Print what was found; return whether a bound is missed."""
    ratio = statistics.median(found["beside"]) / statistics.median(found["alone"])
    spread = [at / statistics.median(found["alone"]) for at in quartiles(found["alone"])]
    print(f"{files:,} files, {found['files']:,} of source, {found['edges']:,} edges")
    print(f"first build, searches beside it  {found['built']:8.1f} s")
    print(f"first build, alone               {found['built_alone']:8.1f} s")
    print(
        f"its peak memory                  {found['peak']:8.0f} MB,"
        f" kept in {found['bytes'] / 1e6:.1f} MB"
    )
    print(f"a search beside / alone          {ratio:8.2f} ({len(found['beside'])} beside it)")
    print(f"  alone, quartiles / median          {spread[0]:.2f} to {spread[1]:.2f}")
    for key in ("git alone", "unchanged", "edited", "added"):
        times = [each * 1e3 for each in found[key]]
        print(
            f"an update, {key:12}          {min(times):8.1f} ms at best,"
            f" {statistics.median(times):.1f} ms in the middle"
        )
    print(f"the neighbours of a file         {statistics.median(found['asked']) * 1e3:8.2f} ms")
    bounds = {
        f"the first build takes at most {MOST_BUILD:g} s": found["built"] <= MOST_BUILD,
        f"an update after an edit takes at most {MOST_UPDATE * 1e3:g} ms": min(found["edited"])
        <= MOST_UPDATE,
        f"a search beside the build takes at most {MOST_HELD_UP} times as long": ratio
        <= MOST_HELD_UP,
    }
    for text, holds in bounds.items():
        print(f"{'✓' if holds else '✗'} {text}")
    return 0 if all(bounds.values()) else 1


def quartiles(times: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper one."""
    low, _, high = statistics.quantiles(times, n=4)
    return low, high


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
