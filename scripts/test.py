"""Every check there is: ``python3 scripts/test.py [GROUP…] [PYTEST ARGUMENTS…]``.

Groups: lint, types, js, unit, integration, e2e; all of them when none is named. What they need is
made in the user's cache directory: the tests' environment, ccc, Node 24, Pi 1.6.0 and 0.74.2.
Nothing is left in the checkout, and no process: one that is fails the run.

``scripts/test.py unit -k sync`` gives pytest the arguments that are no groups.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

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
from report import Report, StepFailed, end_in_order  # noqa: E402

PYTEST_GROUPS = ("unit", "integration", "e2e")
GROUPS = ("lint", "types", "js", *PYTEST_GROUPS)
LONGEST = {
    "unit": ("ccc", "cli", "import_graph", "system"),
    "integration": ("ccc", "refresh", "tools"),
}
"""Folders of tests that take as long as all the others of their group: a lane for each half."""
STEP_SECONDS = 900.0
"""The deadline of one step; the slowest takes a tenth of it."""
LANES = 2
"""Steps that run at a time: they wait for processes as much as they compute."""
_POSIX = os.name == "posix"


@dataclass(frozen=True)
class Check:
    """One step: a command, and how to read how many tests it ran."""

    title: str
    argv: Sequence[str]
    cwd: Path = ROOT
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Counts:
    """Tests over all steps; a step that runs none counts as one."""

    passed: int = 0
    failed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, output: str, *, ok: bool) -> None:
        """Count what pytest or node's test runner says at the end of *output*."""
        found = re.findall(r"^\S* ?(pass|fail) (\d+)$", output, re.MULTILINE)
        summary = re.findall(r"^=* ?(\d+ \w+(?:, \d+ \w+)*) in [\d.:]+", output, re.MULTILINE)
        found += [(word, n) for n, word in re.findall(r"(\d+) (\w+)", " ".join(summary[-1:]))]
        passed = sum(int(n) for word, n in found if word in ("pass", "passed"))
        failed = sum(int(n) for word, n in found if word in ("fail", "failed", "error", "errors"))
        with self._lock:
            self.passed += passed or (ok and not found)
            self.failed += failed or (not ok)


class Run:
    """One run of the checks in a directory of its own, with a user of its own."""

    def __init__(self, directory: Path, report: Report) -> None:
        self.directory = directory
        self.report = report
        self.counts = Counts()
        self._children: set[subprocess.Popen[bytes]] = set()
        self.cache = environments.cache_directory()
        self.environ = self._environment()

    def _environment(self) -> dict[str, str]:
        """The machine's environment without a developer's own settings."""
        trials = ("VERA_CCC_HYPOTHESIS_EXAMPLES", "VERA_CCC_FRESHNESS_STEPS")
        personal = ("GIT_", "COCOINDEX_", "XDG_", "PYTHON", "PYTEST_", "MYPY", "RUFF_", "NODE_")
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(personal)
            and (not name.startswith("VERA_CCC_") or name in trials)
        }
        home = self.directory / "home"
        home.mkdir()
        return environ | {
            "HOME": str(home),
            "USERPROFILE": str(home),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.directory)),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "PIP_CACHE_DIR": str(self.cache / "pip"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.cache / "hypothesis"),
            "RUFF_CACHE_DIR": str(self.cache / "ruff"),
            "MYPY_CACHE_DIR": str(self.cache / "mypy"),
            "VERA_CCC_TEST_RUN": str(self.directory),
        }

    def prepare(self, groups: Sequence[str]) -> Path:
        """Make what these groups need, side by side; return the tests' Python."""
        with ThreadPoolExecutor() as pool, ending_on_interrupt(pool, environments.end_running):
            python = pool.submit(self._part, "tests' environment", environment.test_python)
            parts = []
            if {"integration", "e2e"} & set(groups):
                parts.append(pool.submit(self._prepare_ccc))
            if {"js", "e2e"} & set(groups):
                parts.append(pool.submit(self._prepare_node, groups))
            for part in parts:
                part.result()
            return python.result()

    def _part(self, title: str, make: Callable[[], Path]) -> Path:
        with self.report.step(title):
            return make()

    def _prepare_ccc(self) -> None:
        path = self._part("ccc", bootstrap.install_ccc)
        python = environments.python_of(path.parent.parent)
        self.environ |= {"VERA_CCC_TEST_CCC": str(path), "VERA_CCC_TEST_CCC_PYTHON": str(python)}

    def _prepare_node(self, groups: Sequence[str]) -> None:
        node = self._part("Node 24", environment.node_24)
        old = environment.node_20(node)
        self.environ |= {"VERA_CCC_TEST_NODE_24": str(node), "VERA_CCC_TEST_NODE_20": str(old)}
        if "e2e" in groups:
            pi_16 = self._part("Pi 1.6.0", lambda: environment.pi("1.6.0", node))
            pi_074 = self._part("Pi 0.74.2", lambda: environment.pi("0.74.2", node))
            self.environ |= {
                "VERA_CCC_TEST_PI_16": str(pi_16),
                "VERA_CCC_TEST_PI_074": str(pi_074),
            }
        if "js" in groups:
            modules = self._part("JavaScript tools", lambda: environment.node_modules(node))
            stage(self.directory / "tree", modules)

    def check(self, check: Check) -> None:
        """Run a step to its end; its output is shown when it fails."""
        with suppress(StepFailed), self.report.step(check.title) as step:
            returncode, output = self._run(check)
            self.counts.add(output, ok=not returncode)
            step.detail = _last_line(output)
            if returncode:
                raise StepFailed(f"{returncode}\n{output}")

    def _run(self, check: Check) -> tuple[str, str]:
        """How it ended, empty for well, and what it printed."""
        log = self.directory / (re.sub(r"\W+", "-", check.title) + ".log")
        with log.open("wb") as output:
            child = subprocess.Popen(
                list(check.argv),
                cwd=check.cwd,
                env=self.environ | dict(check.env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=_POSIX,
            )
            self._children.add(child)
            try:
                code = child.wait(STEP_SECONDS)
                ended = f"exit code {code}" if code else ""
            except subprocess.TimeoutExpired:
                ended = f"not done after {STEP_SECONDS:.0f} s"
            finally:
                end_tree(child)
                self._children.discard(child)
        return ended, log.read_text(encoding="utf-8", errors="replace")

    def end_steps(self) -> None:
        """End the steps that still run."""
        for child in list(self._children):
            end_tree(child)

    def see_nothing_left(self, python: Path) -> None:
        """See that no process of this run is left; end and name those that are."""
        with suppress(StepFailed), self.report.step("no process left"):
            script = ROOT / "scripts" / "leftovers.py"
            done = subprocess.run(
                [str(python), str(script), str(self.directory)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.counts.add("", ok=not done.returncode)
            if done.returncode:
                raise StepFailed(f"these had to be killed:\n{done.stdout}{done.stderr}")


def stage(tree: Path, modules: Path) -> None:
    """Copy the checkout beside the *modules* that npm installed outside of it."""
    skipped = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "node_modules")
    shutil.copytree(ROOT, tree, ignore=skipped, symlinks=True)
    if _POSIX:
        (tree / "node_modules").symlink_to(modules)
    else:  # a link needs a privilege there
        shutil.copytree(modules, tree / "node_modules")


def end_tree(child: subprocess.Popen[bytes]) -> None:
    """End a step's process and what it started, if it still runs."""
    if child.poll() is not None:
        return
    with suppress(OSError):
        if _POSIX:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            kill = ["taskkill", "/T", "/F", "/PID", str(child.pid)]
            subprocess.run(kill, capture_output=True, timeout=30, check=False)
    child.kill()
    child.wait()


def _last_line(output: str) -> str:
    lines = [line.strip(" =") for line in output.splitlines() if line.strip(" =")]
    return lines[-1] if lines else ""


def checks(run: Run, python: Path, groups: Sequence[str], rest: Sequence[str]) -> list[Check]:
    """The steps of these groups, the longest first."""
    found = _pytest(run, python, [name for name in PYTEST_GROUPS if name in groups], rest)
    if "types" in groups:
        found.append(Check("mypy", [str(python), "-m", "mypy"]))
    if "js" in groups:
        found += _javascript(run)
    if "lint" in groups:
        found.append(Check("ruff check", [str(python), "-m", "ruff", "check", "."]))
        found.append(Check("ruff format", [str(python), "-m", "ruff", "format", "--check", "."]))
    return found


def _pytest(run: Run, python: Path, names: Sequence[str], rest: Sequence[str]) -> list[Check]:
    """Pytest for these groups: for each by itself, as long as no arguments ask for something else.

    The longest come first, and the end-to-end tests a file at a time, which fills both lanes.
    """
    files = sorted(path.name for path in (ROOT / "tests" / "e2e").glob("test_*.py"))
    parts: dict[str, list[str]] = {}
    if "integration" in names:
        parts |= _halves("integration")
    if "e2e" in names:
        parts |= {f"pytest e2e/{name}": [f"tests/e2e/{name}"] for name in files}
    if "unit" in names:
        parts |= _halves("unit")
    if rest:
        named = any((ROOT / argument.split("::")[0]).exists() for argument in rest)
        parts = {"pytest": [*([] if named else [f"tests/{name}" for name in names]), *rest]}
    if not names:
        parts = {}
    cache = f"cache_dir={run.cache / 'pytest'}"
    return [
        Check(
            title,
            [
                *(str(python), "-m", "pytest", "-o", cache),
                f"--basetemp={run.directory / f'p{number}'}",
                *arguments,
            ],
        )
        for number, (title, arguments) in enumerate(parts.items())
    ]


def _halves(group: str) -> dict[str, list[str]]:
    """Two steps of about the same time."""
    parts: dict[str, list[str]] = {f"pytest {group}": [], f"pytest {group}, longest": []}
    for path in sorted((ROOT / "tests" / group).iterdir()):
        if path.name.startswith("test_") or any(path.glob("test_*.py")):
            longest = path.name in LONGEST[group]
            title = f"pytest {group}, longest" if longest else f"pytest {group}"
            parts[title].append(path.relative_to(ROOT).as_posix())
    return parts


def _javascript(run: Run) -> list[Check]:
    """The JavaScript's own checks, in the staged tree; its tests also with the old Node."""
    node = Path(run.environ["VERA_CCC_TEST_NODE_24"])
    old = Path(run.environ["VERA_CCC_TEST_NODE_20"])
    found = [("js check", node, "check"), ("js tests, Node 24", node, "test:js")]
    if old != node:
        found.append(("js tests, older Node", old, "test:js"))
    return [
        Check(
            title,
            [*environment.npm(node), "run", "--silent", script],  # its `node` is PATH's first
            run.directory / "tree",
            {"PATH": f"{which.parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        )
        for title, which, script in found
    ]


@contextmanager
def ending_on_interrupt(pool: ThreadPoolExecutor, end: Callable[[], None]) -> Iterator[None]:
    """When the block is left by an exception, drop what has not begun and *end* what has."""
    try:
        yield
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end()
        raise


@contextmanager
def directory() -> Iterator[Path]:
    """A directory for one run; its path is short, because daemons' sockets lie in it."""
    base = "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - removed below
    path = Path(tempfile.mkdtemp(prefix="vcct-", dir=base)).resolve()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def no_bytecode_left() -> Iterator[None]:
    """Remove the ``__pycache__`` directories that the block made in the checkout."""
    places = ("vera_ccc_tools", "scripts", "tests")

    def cached() -> set[Path]:
        return {path for place in places for path in (ROOT / place).rglob("__pycache__")}

    before = cached()
    try:
        yield
    finally:
        for path in cached() - before:
            shutil.rmtree(path, ignore_errors=True)


def perform(report: Report, groups: Sequence[str], rest: Sequence[str]) -> Counts:
    """Prepare, run the steps of the *groups*, and end what is left."""
    with directory() as path, no_bytecode_left():
        run = Run(path, report)
        python = run.prepare(groups)
        try:
            with ThreadPoolExecutor(LANES) as pool, ending_on_interrupt(pool, run.end_steps):
                list(pool.map(run.check, checks(run, python, groups, rest)))
        finally:
            run.see_nothing_left(python)
    return run.counts


def main(argv: Sequence[str]) -> int:
    """Run it; the exit code is 0 when everything passed."""
    if {"-h", "--help"} & set(argv):
        print(__doc__)
        return 0
    end_in_order()
    groups = [name for name in argv if name in GROUPS]
    rest = [argument for argument in argv if argument not in GROUPS]
    groups = groups or list(PYTEST_GROUPS if rest else GROUPS)
    report = Report()
    counts = Counts()
    try:
        counts = perform(report, groups, rest)
    except KeyboardInterrupt:
        report.failed.append("interrupted")
    except (Failure, StepFailed) as error:
        if not report.failed:
            report.failed.append(str(error))
    code = report.verdict()
    print(f"{counts.passed} passed, {max(counts.failed, code)} failed", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
