"""Run a verb of this package in a Python that has what it needs, made where there is none.

``python3 bootstrap.py VERB …`` does what ``python -m vera_ccc_tools VERB …`` does. The standard
library is all it needs, and its source is readable by Python 3.8, so that an old Python gets one
clear sentence. The interpreter is, in this order:

1. what ``VERA_CCC_PYTHON`` names, as it is;
2. the running one, when it is new enough and has the dependencies;
3. one in an environment in the user's cache directory, made once.

``python3 bootstrap.py install-ccc`` makes an environment with ccc and prints ccc's path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

MINIMUM = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
"""The directory that holds the package: a checkout, or an installation's ``site-packages``."""

if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # this directory, whose modules are no top-level ones
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))

from vera_ccc_tools.boot import (  # noqa: E402 - the path has to be right first
    environments,
    invocation,
)
from vera_ccc_tools.errors import Failure, shorten  # noqa: E402

CCC_VERSION = "0.2.42"
# In the order in which all of ccc's dependencies can be expected to have wheels.
_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14", "python3", "python")
LOADS_EXTENSIONS = (
    "import sqlite3, sys; "
    "usable = hasattr(sqlite3.Connection, 'enable_load_extension'); "
    "sys.exit(not usable or sys.version_info < (3, 11))"
)
_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"


def main(argv: Sequence[str]) -> int:
    """Run the verb *argv* in the right interpreter; on POSIX this process becomes that one."""
    argv = list(argv)
    try:
        if argv[:1] == ["install-ccc"]:
            require_python()
            sys.stdout.write(f"{install_ccc()}\n")
            return 0
        if argv[:1] == ["--here"]:
            if os.environ.get("VERA_CCC_PYTHON"):
                _check(argv[1] if len(argv) > 1 else "")
            return _run(argv[1:])
        python = interpreter(argv[0] if argv else "")
        if python != sys.executable:
            become([python, str(Path(__file__).resolve()), "--here", *argv])
        return _run(argv)
    except Failure as failure:
        environments.say(str(failure))
    except KeyboardInterrupt:
        return 130
    return 1


def require_python() -> None:
    """Go on only in a Python that is new enough: run this very script in one, if one is found.

    Raises:
        Failure: ``python_too_old`` when there is none.
    """
    if sys.version_info < MINIMUM:
        become([_newer_python(), *sys.argv])


def become(argv: Sequence[str]) -> None:
    """Replace this process by *argv*; on Windows, run it with our streams and exit as it does.

    Raises:
        Failure: ``cannot_run`` when there is no such executable.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # there is none when it was closed
            stream.flush()
    try:
        if os.name == "posix":
            os.execv(argv[0], list(argv))  # noqa: S606 - there is no shell, and none is wanted
        import subprocess

        child = subprocess.Popen(list(argv))
    except OSError as error:
        hint = ""
        if os.environ.get("VERA_CCC_PYTHON"):
            hint = "VERA_CCC_PYTHON names it: name a Python 3.11 or newer there, or unset it."
        message = f"Cannot run {shorten(argv[0])}: {error.strerror}."
        raise Failure("cannot_run", message, hint) from error
    while True:
        with suppress(KeyboardInterrupt):  # the child gets it too, and decides
            sys.exit(child.wait())


def _run(argv: Sequence[str]) -> int:
    import runpy

    sys.argv[1:] = argv
    invocation.started_by(str(Path(__file__).resolve()))
    runpy.run_module("vera_ccc_tools", run_name="__main__", alter_sys=True)
    return 0


def interpreter(verb: str = "") -> str:
    """The interpreter to run *verb* in, made if it has to be.

    Raises:
        Failure: there is none and none can be made.
    """
    named = os.environ.get("VERA_CCC_PYTHON")
    if named:
        return _named(named)
    require_python()
    needed = requirements(verb)
    if not lacking(needed, sys.path):
        return sys.executable
    parts = [str(sys.implementation.cache_tag), *needed]
    directory = environments.directory_for("env", parts)
    environments.prepare(
        directory,
        lambda builder: builder.environment(sys.executable, needed),
        "its Python environment",
    )
    return str(environments.python_of(directory))


def _named(value: str) -> str:
    """The interpreter that VERA_CCC_PYTHON names: a path, or a name to look up."""
    path = Path(os.path.expanduser(value))  # noqa: PTH111 - Path's one raises
    found = str(path) if path.is_absolute() else None
    if path.name == value:
        found = next(environments.find([value]), None)
    if not found:
        raise Failure(
            "python_missing",
            f"VERA_CCC_PYTHON names {shorten(value)}, which is not there.",
            "Set it to the absolute path of a Python 3.11 or newer, or unset it.",
        )
    return found


def _check(verb: str) -> None:
    """Say in one sentence what this interpreter lacks, which `interpreter` takes as it is."""
    if sys.version_info < MINIMUM:
        raise _too_old()
    missing = lacking(requirements(verb), sys.path)
    if missing:
        raise Failure(
            "python_lacks",
            f"{sys.executable}, named by VERA_CCC_PYTHON, lacks {', '.join(missing)}.",
            "Install them there (with its `-m pip install`), or unset VERA_CCC_PYTHON.",
        )


def _newer_python() -> str:
    for python in environments.find(_PYTHONS):
        if environments.passes(python, _NEW_ENOUGH):
            return python
    raise _too_old()


def _too_old() -> Failure:
    version = ".".join(map(str, sys.version_info[:3]))
    return Failure(
        "python_too_old",
        f"Python 3.11 or newer is needed; this is {version} ({sys.executable}).",
        "Install one (from python.org or with your package manager), or name one in "
        "VERA_CCC_PYTHON.",
    )


# --- ccc -----------------------------------------------------------------------------------------


def install_ccc() -> Path:
    """The path of a ccc in an environment of its own, made where it is not there yet.

    Raises:
        Failure: no interpreter is fit for it, or its installation fails.
    """
    needed = [f"cocoindex-code=={CCC_VERSION}"]
    directory = environments.directory_for(f"ccc-{CCC_VERSION}", needed)
    environments.prepare(
        directory,
        lambda builder: builder.environment(python_for_ccc(), needed),
        f"ccc {CCC_VERSION}",
    )
    return directory / environments.BIN / f"ccc{environments.EXE}"


def python_for_ccc() -> str:
    """An interpreter whose SQLite loads extensions, as ccc needs it.

    Raises:
        Failure: ``python_unfit`` when none is found.
    """
    tried: list[str] = []
    for python in (sys.executable, *environments.find(_PYTHONS)):
        if python not in tried and environments.passes(python, LOADS_EXTENSIONS):
            return python
        tried.append(python)
    raise Failure(
        "python_unfit",
        "No Python 3.11 or newer was found whose sqlite3 can load extensions, which ccc needs "
        f"(looked at {len(tried)}).",
        "Install your system's own python3 (Debian, Ubuntu), Homebrew's (macOS) or python.org's "
        "(Windows); or install ccc and name it in VERA_CCC_EXECUTABLE.",
    )


# --- what is needed, and is it there? ------------------------------------------------------------


def requirements(extra: str = "") -> list[str]:
    """This package's dependencies, as pip takes them; with those of *extra* where it is one.

    From the ``pyproject.toml`` beside the package, or from the metadata of an installed one.
    """
    project = ROOT / "pyproject.toml"
    if project.is_file():
        import tomllib

        table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        return [*table["dependencies"], *table.get("optional-dependencies", {}).get(extra, ())]
    import importlib.metadata

    wanted = ("", f"extra == '{extra}'", f'extra == "{extra}"')
    listed = importlib.metadata.requires("vera-ccc-tools") or []
    pairs = [text.partition(";") for text in listed]
    return [name.strip() for name, _, marker in pairs if marker.strip() in wanted]


def lacking(needed: Iterable[str], path: Iterable[str]) -> list[str]:
    """Those of the requirements *needed* that no package in the directories *path* meets.

    Decided from the names of the installed packages' metadata directories: to import the packages,
    or `importlib.metadata`, takes longer than everything else here. Only a name with bounds
    (``>=`` and ``<``) is understood; anything else counts as not met.
    """
    installed = _installed(path)
    return [requirement for requirement in needed if not _is_met(requirement, installed)]


def _installed(path: Iterable[str]) -> dict[str, str]:
    """The versions of the installed packages; of the first, where the path has several."""
    found: dict[str, str] = {}
    for entry in path:
        with suppress(OSError):
            for name in os.listdir(entry or "."):  # noqa: PTH208 - names are all that is needed
                if name.endswith(".dist-info"):
                    package, _, version = name[: -len(".dist-info")].partition("-")
                    found.setdefault(_normal(package), version)
    return found


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _is_met(requirement: str, installed: dict[str, str]) -> bool:
    import re

    match = re.fullmatch(r"([\w.-]+)((?:,?(?:>=|<)[\d.]+)*)", requirement)
    version = installed.get(_normal(match.group(1))) if match else None
    if match is None or version is None:
        return False
    bounds = re.findall(r"(>=|<)([\d.]+)", match.group(2))
    return all((_release(version) >= _release(bound)) == (sign == ">=") for sign, bound in bounds)


def _release(version: str) -> list[int]:
    """The numbers that a version begins with."""
    import re

    return [int(part) for part in re.split(r"[^\d.]", version)[0].split(".") if part]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
