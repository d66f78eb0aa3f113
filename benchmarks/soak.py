"""One worker for a long time: ``run.py soak [--calls 2000] [--seed 1]``.

Calls of all kinds are made on one worker with the real ccc and daemon, a tenth of them so that
they have to fail: wrong arguments, a directory that is missing, a call that is cancelled, a ccc
that hangs, floods, dies or prints half an answer, a daemon that is killed. Every answer is
checked. At the end the worker may hold no more than at its plateau, which is what it held when a
tenth of the calls had been made.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.playground import user
from report import StepFailed
from worker_client import Worker

FILES = 60
BEHIND = "The index is being brought up to date"
MOST_GROWTH = 10 * 1024 * 1024
"""Bytes that the worker may have gained since its plateau."""
FAILING_SHARE = 10
DEADLINE = 15
"""Seconds that a search may take: enough for a daemon to start within, on a busy machine too."""
HANG, FLOOD, DIE, HALF = "please hang", "please flood", "please die", "please print half"
# The real ccc but for a few questions, at which it does what a broken one would.
BROKEN_CCC = f"""\
#!/bin/sh
for last; do :; done
case "$last" in
  {HANG!r}) exec sleep 600 ;;
  {FLOOD!r}) exec head -c 50000000 /dev/zero ;;
  {DIE!r}) exit 3 ;;
  {HALF!r}) echo '{{"type":"search","success":true,"results":[{{"file_path":"f1' ; exit ;;
esac
exec CCC "$@"
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What the worker holds."""

    memory: int
    descriptors: int
    threads: int
    processes: int

    @classmethod
    def by(cls, process: psutil.Process) -> Held:
        count = getattr(process, "num_fds", None) or getattr(process, "num_handles")  # noqa: B009
        children = process.children(recursive=True)
        own = [each for each in children if "run-daemon" not in _command(each)]
        return cls(process.memory_info().rss, count(), process.num_threads(), len(own))

    def __str__(self) -> str:
        return (
            f"{self.memory / 2**20:.1f} MB, {self.descriptors} descriptors, "
            f"{self.threads} threads, {self.processes} processes of its own"
        )


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


@dataclass
class Soak:
    """The worker, its project, and what was counted.

    Attributes:
        texts: What each file of the project holds now.
        wrong: What was answered otherwise than it should have been.
        seconds: How long each call took.
    """

    worker: Worker
    root: Path
    environ: dict[str, str]
    chance: random.Random
    texts: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    edits: int = 0

    def write(self, name: str) -> None:
        """Give a file new words, which nothing else has."""
        self.edits += 1
        word = f"{name.removesuffix('.py')}_{self.edits}"
        self.texts[name] = f"def {word}(value):\n    return '{word} of {name}', value"
        (self.root / name).write_text(self.texts[name] + "\n", encoding="utf-8")

    def pick(self) -> str:
        return self.chance.choice(sorted(self.texts))

    def search(self, name: str, **more: Any) -> str:
        """Search for what a file holds, and hold that its lines are found."""
        given = {"query": self.texts[name], "limit": 10, **more}
        text = BEHIND
        while BEHIND in text:  # what a search tells truly while an index run goes on beside it
            result = self.worker.call("ccc_search", given)
            text = str(result["content"][0]["text"])
        found = [each["file_path"] for each in result["details"]["results"]]
        expect(name in found and self.texts[name] in text, f"{name} by {given}", text)
        return text

    def fails(self, said: str, tool: str, **given: Any) -> None:
        """Make a call that has to fail, with *said* in what is told."""
        told = failure_of(lambda: self.worker.call(tool, given))
        expect(said in told, f"{said!r} of {tool} {str(given)[:80]}", told)


def expect(is_so: bool, wanted: str, came: str) -> None:  # noqa: FBT001 - an assertion
    """Hold that an answer is right.

    Raises:
        StepFailed: It is not.
    """
    if not is_so:
        raise StepFailed(f"expected {wanted}; came {came[:300]} … {came[-300:]}")


def failure_of(call: Callable[[], object]) -> str:
    """What a call fails with; nothing when it does not."""
    try:
        call()
    except StepFailed as failure:
        return str(failure)
    return ""


# --- calls that go well ---------------------------------------------------------------------------


def _search_as_is(soak: Soak) -> None:
    soak.search(soak.pick(), refresh_index=False)


def _search_unchanged(soak: Soak) -> None:
    soak.search(soak.pick())


def _search_edited(soak: Soak) -> None:
    name = soak.pick()
    soak.write(name)
    soak.search(name)


def _search_narrowed(soak: Soak) -> None:
    name = soak.pick()
    narrowed = {"path": f"{name[:2]}*", "languages": ["py"], "rank": "ccc"}
    soak.search(name, limit=60, **narrowed)


def _search_paged(soak: Soak) -> None:
    first = soak.worker.call("ccc_search", {"query": "value", "limit": 3})
    then = soak.worker.call("ccc_search", {"query": "value", "limit": 3, "offset": 3})
    both = [row["file_path"] for each in (first, then) for row in each["details"]["results"]]
    expect(len(set(both)) == 6, "six files on two pages", str(both))


def _status(soak: Soak) -> None:
    text = str(soak.worker.request("status", {})["text"])
    expect("ccc_search" in text and "chunks" in text, "a ready status", text)


def _tools(soak: Soak) -> None:
    listed = soak.worker.request("tools/list", {})["tools"]
    expect(len(listed) == 4, "four tools", str(listed))


def _index(soak: Soak) -> None:
    result = soak.worker.call("ccc_index", {})
    expect(result["details"]["files"] == FILES, f"{FILES} files", str(result))


def _index_in_background(soak: Soak) -> None:
    text = str(soak.worker.call("ccc_index", {"background": True})["content"][0]["text"])
    expect("in the background" in text, "a start in the background", text)


def _init(soak: Soak) -> None:
    text = str(soak.worker.call("ccc_init", {})["content"][0]["text"])
    expect("is a ccc project already" in text, "a project already", text)


def _doctor(soak: Soak) -> None:
    text = str(soak.worker.call("ccc_doctor", {})["content"][0]["text"])
    expect(text.endswith("No problem found."), "no problem", text)


# --- calls that have to fail ----------------------------------------------------------------------


def _wrong_argument(soak: Soak) -> None:
    wrong = {"limit": 0, "languages": [1], "path": "../..", "offset": "x", "query": "\0", "lmit": 1}
    name, value = soak.chance.choice(list(wrong.items()))
    soak.fails(f"{name}", "ccc_search", **{"query": "x", name: value})


def _huge_argument(soak: Soak) -> None:
    soak.fails("`query` has 3,000,000 characters", "ccc_search", query="x" * 3_000_000)


def _unknown_tool(soak: Soak) -> None:
    soak.fails("There is no tool 'ccc_reset'", "ccc_reset")


def _unknown_language(soak: Soak) -> None:
    soak.fails("'klingon' is no language", "ccc_search", query="x", languages=["klingon"])


def _missing_directory(soak: Soak) -> None:
    given = {"name": "ccc_search", "arguments": {"query": "x"}, "cwd": "/no/such/place"}
    result = soak.worker.request("tools/call", given)
    expect(result["isError"] and "/no/such/place" in str(result), "the directory", str(result))


def _unknown_method(soak: Soak) -> None:
    told = failure_of(lambda: soak.worker.request("tools/nothing", {}))
    expect("There is no method" in told, "no such method", told)


def _cancelled(soak: Soak) -> None:
    timer = threading.Timer(0.3, soak.worker.cancel)
    timer.start()
    started = time.monotonic()
    soak.fails("cancelled", "ccc_search", query=HANG, refresh_index=False)
    timer.join()
    expect(time.monotonic() - started < 2.0, "an end within a second", "a late one")


def _hanging(soak: Soak) -> None:
    soak.fails(f"did not answer within {DEADLINE} s", "ccc_search", query=HANG, refresh_index=False)


def _flooding(soak: Soak) -> None:
    soak.fails("printed 50,000,000 bytes", "ccc_search", query=FLOOD, refresh_index=False)
    for rest in Path(soak.environ["TMPDIR"]).iterdir():
        rest.unlink()


def _dying(soak: Soak) -> None:
    soak.fails("exit code 3 and no word", "ccc_search", query=DIE, refresh_index=False)


def _half_an_answer(soak: Soak) -> None:
    soak.fails("no result that can be read", "ccc_search", query=HALF, refresh_index=False)


def _killed_daemon(soak: Soak) -> None:
    """Kill the daemon; the next search has to be right all the same."""
    pid = int((Path(soak.environ["COCOINDEX_CODE_DIR"]) / "daemon.pid").read_text(encoding="ascii"))
    psutil.Process(pid).kill()
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=5)
    soak.search(soak.pick())


Kind = Callable[[Soak], None]
GOOD: dict[Kind, int] = {
    _search_as_is: 30, _search_unchanged: 30, _search_edited: 15, _search_narrowed: 10,
    _search_paged: 5, _status: 20, _tools: 5, _index: 3, _index_in_background: 2, _init: 2,
    _doctor: 1,
}  # fmt: skip
BAD: dict[Kind, int] = {
    _wrong_argument: 20, _huge_argument: 5, _unknown_tool: 5, _unknown_language: 5,
    _missing_directory: 10, _unknown_method: 5, _cancelled: 20, _hanging: 3, _flooding: 5,
    _dying: 10, _half_an_answer: 10, _killed_daemon: 5,
}  # fmt: skip


@contextmanager
def soaking(seed: int) -> Iterator[Soak]:
    """A user with an indexed project, and a worker whose ccc breaks where it is asked to."""
    with user(sys.executable) as (base, environ, ccc):
        broken = base / "bin" / "ccc"
        broken.parent.mkdir()
        broken.write_text(BROKEN_CCC.replace("CCC", shlex.quote(ccc)), encoding="utf-8")
        broken.chmod(0o755)
        spool, root = base / "spool", base / "project"
        for directory in (spool, root):
            directory.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True, timeout=60)  # noqa: S607
        environ |= {"VERA_CCC_EXECUTABLE": str(broken), "TMPDIR": str(spool)}
        environ |= {
            "VERA_CCC_TIMEOUT_STATUS": str(DEADLINE),
            "VERA_CCC_TIMEOUT_SEARCH": f"{DEADLINE}",
        }
        worker = Worker(environ, root)
        try:
            made = Soak(worker, root, environ, random.Random(seed))  # noqa: S311 - the same calls each time
            for number in range(FILES):
                made.write(f"f{number}.py")
            worker.call("ccc_index", {}, deadline=600.0)
            yield made
        finally:
            worker.close()


def take(soak: Soak, kind: Kind) -> None:
    """Make one call, and note what is wrong with its answer."""
    started = time.monotonic()
    try:
        kind(soak)
    except StepFailed as failure:
        soak.wrong.append(f"{kind.__name__}: {failure}")
        print(f"\nwrong: {soak.wrong[-1]}", file=sys.stderr)
    soak.seconds.append(time.monotonic() - started)
    soak.counted[kind.__name__] += 1


def run(soak: Soak, calls: int) -> list[Held]:
    """Make the calls; what the worker held at first, at its plateau and at the end."""
    process = psutil.Process(soak.worker.pid)
    good, bad = list(GOOD), list(BAD)
    held = [Held.by(process)]
    for number in range(calls):
        print(f"\rcall {number + 1} of {calls}", end="", file=sys.stderr)
        kinds, table = (bad, BAD) if number % FAILING_SHARE == 5 else (good, GOOD)
        take(soak, soak.chance.choices(kinds, [table[each] for each in kinds])[0])
        if number == calls // 10:
            held.append(settled(process))
    print(file=sys.stderr)
    return [*held, settled(process)]


def settled(process: psutil.Process) -> Held:
    """What the worker holds once nothing runs for it; the least of some looks."""
    looks = []
    for _ in range(20):
        looks.append(Held.by(process))
        time.sleep(0.1)
    return min(looks, key=lambda held: (held.processes, held.threads, held.descriptors))


def report(soak: Soak, held: Sequence[Held]) -> bool:
    """Print the figures; say whether all of it is as it should be."""
    failing = sum(soak.counted[kind.__name__] for kind in BAD)
    print(f"{len(soak.seconds)} calls, {failing} of them failing on purpose")
    print(json.dumps(soak.counted))
    for name, each in zip(("start", "plateau", "end"), held, strict=True):
        print(f"{name:8} {each}")
    print(f"wrong answers: {len(soak.wrong)}")
    cuts = statistics.quantiles(soak.seconds, n=20)
    print(f"seconds: {sum(soak.seconds):.0f} in all, p50 {cuts[9]:.2f}, p95 {cuts[18]:.2f} a call")
    _, plateau, end = held
    bounds = {
        "every answer is right": not soak.wrong,
        "memory within 10 MB of the plateau": end.memory - plateau.memory <= MOST_GROWTH,
        "no descriptor more": end.descriptors <= plateau.descriptors,
        "no thread more": end.threads <= plateau.threads,
        "no process more": end.processes <= plateau.processes,
    }
    for line, holds in bounds.items():
        print(f"{'✓' if holds else '✗'} {line}")
    return all(bounds.values())


def main(argv: Sequence[str]) -> int:
    """Soak, print, and say whether a bound is missed."""
    parser = argparse.ArgumentParser(prog="run.py soak", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with soaking(options.seed) as soak:
        held = run(soak, options.calls)
    return 0 if report(soak, held) else 1
