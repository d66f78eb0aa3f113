"""What the sync costs: ``run.py sync [FILES…]`` (1000 10000 100000).

Of each tree four fifths are tracked files and one fifth scattered ignored ones, a tenth of those
of a kind that ccc includes, with names that nothing folds. One child process measures each tree,
so that the peak memory is its own. ccc's share of an index run is measured by ccc's own loader
and matcher where ``VERA_CCC_TEST_CCC_PYTHON`` (or a ``ccc`` on PATH) names its Python.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vera_ccc_tools.system.environment import Environment

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 15
_IN_A_DIRECTORY = 40
_ROOT = Path(__file__).resolve().parent.parent

_SHARE = """
import json, sys, time
from pathlib import Path, PurePosixPath
from cocoindex_code.settings import load_project_settings
from cocoindex.resources.file import PatternFilePathMatcher
root, files = Path(sys.argv[1]), json.load(sys.stdin)
files = [PurePosixPath(path) for path in files]
times = []
for _ in range(5):
    start = time.perf_counter()
    loaded = load_project_settings(root)
    read = time.perf_counter()
    matcher = PatternFilePathMatcher(loaded.include_patterns, loaded.exclude_patterns)
    for path in files:
        matcher.is_file_included(path)
    times.append(((read - start) * 1e3, (time.perf_counter() - read) * 1e3))
print(json.dumps([min(column) for column in zip(*times)]))
"""


def main(argv: Sequence[str]) -> int:
    """Measure trees of the given sizes and print one table."""
    if argv and argv[0] == "--one":
        print(json.dumps(_measure(int(argv[1]))))
        return 0
    parser = argparse.ArgumentParser(prog="run.py sync", description=__doc__)
    parser.add_argument("sizes", metavar="FILES", type=int, nargs="*", help="sizes of the trees")
    sizes = parser.parse_args(argv).sizes or SIZES
    print(
        f"{'files':>8} {'git':>8} {'unchanged':>10} {'ratio':>6} {'above':>8} {'edited':>8}"
        f" {'first':>9} {'entries':>8} {'memory':>8} {'settings':>9} {'matching':>9}"
    )
    for size in sizes:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.sync", "--one", str(size)],
            stdout=subprocess.PIPE,
            check=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )
        print(_line(size, json.loads(done.stdout)), flush=True)
    print(_LEGEND)
    return 0


_LEGEND = """
git: the `git status` of a sync, alone.       unchanged: a sync that finds nothing new.
ratio, above: unchanged against git.          edited: a sync after one tracked file changed.
first: a sync with nothing known.             memory: peak of the whole process.
settings: what the entries add to one read of settings.yml (an index run reads it once, and
once more for each changed file).             matching: what they add to a walk of all files.
Of each repeated time the fastest: what else the machine does only adds."""


def _line(size: int, found: dict[str, float]) -> str:
    git, unchanged = found["git"], found["unchanged"]
    share = [f"{found[key]:+7.1f}ms" if key in found else "-" for key in ("settings", "matching")]
    return (
        f"{size:>8} {git:>6.1f}ms {unchanged:>8.1f}ms {unchanged / git:>6.2f}"
        f" {unchanged - git:>6.1f}ms {found['edited']:>6.1f}ms {found['first']:>7.0f}ms"
        f" {found['entries']:>8.0f} {found['memory']:>6.0f}MB {share[0]:>9} {share[1]:>9}"
    )


def _measure(size: int) -> dict[str, float]:
    from vera_ccc_tools.git.git import STATUS, Git
    from vera_ccc_tools.gitignore_sync import Syncer

    with tempfile.TemporaryDirectory(prefix="vera-bench-") as name:
        root = Path(os.path.realpath(name))
        tracked = _build(root, size)
        bare = _share_of_ccc(root, tracked)
        syncer = Syncer()
        first, report = _timed(lambda: syncer.sync(root))
        command = [str(Git.find(Environment()).executable), *STATUS]
        asked, unchanged, edited = [], [], []
        for turn in range(ROUNDS):
            asked.append(_timed(lambda: _run(command, root))[0])
            unchanged.append(_timed(lambda: syncer.sync(root))[0])
            (root / tracked[turn]).write_text(f"x = {turn}\n", encoding="utf-8")
            edited.append(_timed(lambda: syncer.sync(root))[0])
        found = {
            "git": min(asked),
            "unchanged": min(unchanged),
            "edited": min(edited),
            "first": first,
            "entries": len(report.added),
            "memory": _peak_memory(),
        }
        with_entries = _share_of_ccc(root, tracked)
        if bare and with_entries:
            found["settings"] = with_entries[0] - bare[0]
            found["matching"] = with_entries[1] - bare[1]
        return found


def _run(command: list[str], root: Path) -> None:
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = call()
    return (time.perf_counter() - start) * 1e3, answer


def _build(root: Path, size: int) -> list[str]:
    """Make the tree and return its tracked files."""
    (root / ".gitignore").write_text("/.cocoindex_code/\ngen_*.py\n*.bin\n", encoding="utf-8")
    tracked, ignored = [], []
    for number in range(size):
        block = number // _IN_A_DIRECTORY
        place = f"pkg{block % 50}/mod{block // 50}/sub{block}"
        if number % 5:
            tracked.append(f"{place}/file{number}.py")
        else:
            kind = f"gen_{number}.py" if number % 50 == 0 else f"data{number}.bin"
            ignored.append(f"{place}/{kind}")
    for path in (*tracked, *ignored):
        target = root / path
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
        target.write_bytes(b"x = 1\n")
    for words in (["init", "-q"], ["add", "-A"], [*_WHO, "commit", "-q", "-m", "files"]):
        _run(["git", *words], root)
    settings = root / ".cocoindex_code" / "settings.yml"
    settings.parent.mkdir()
    settings.write_text("# defaults\n", encoding="utf-8")
    return tracked


_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")


def _share_of_ccc(root: Path, files: Sequence[str]) -> list[float] | None:
    python = _ccc_python()
    if python is None:
        return None
    done = subprocess.run(
        [python, "-c", _SHARE, str(root)],
        input=json.dumps(files),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        check=True,
        env={**os.environ, "COCOINDEX_DISABLE_USAGE_TRACKING": "1"},
    )
    answer: list[float] = json.loads(done.stdout)
    return answer


def _ccc_python() -> str | None:
    named = os.environ.get("VERA_CCC_TEST_CCC_PYTHON")
    if named:
        return named
    ccc = os.environ.get("VERA_CCC_EXECUTABLE") or shutil.which("ccc")
    if ccc is None or os.name != "posix":
        return None
    line = Path(ccc).read_bytes().split(b"\n", 1)[0].decode(errors="replace")
    return line[2:].strip() if line.startswith("#!/") and " " not in line else None


def _peak_memory() -> float:
    """Megabytes."""
    if os.name != "posix":
        import psutil

        return float(getattr(psutil.Process().memory_info(), "peak_wset", 0)) / 1e6
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
