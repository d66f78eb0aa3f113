"""Which interpreter runs a verb, and how an environment is made once and whole."""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conftest import MakeExecutable
from helpers import POSIX, ROOT, write_file
from vera_ccc_tools import __version__, bootstrap
from vera_ccc_tools.boot import environments
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell

BOOTSTRAP = ROOT / "vera_ccc_tools" / "bootstrap.py"
READ_BY_OLD_PYTHONS = [
    "vera_ccc_tools/__init__.py",
    "vera_ccc_tools/bootstrap.py",
    "vera_ccc_tools/boot/__init__.py",
    "vera_ccc_tools/boot/environments.py",
    "vera_ccc_tools/boot/invocation.py",
    "vera_ccc_tools/errors.py",
    "scripts/smoke.py",
    "scripts/test.py",
]


def run(*arguments: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, str(BOOTSTRAP), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def do_nothing(_: environments.Builder) -> None:
    pass


@pytest.fixture
def cache(isolated_user: Path) -> Path:
    return environments.cache_directory()


@pytest.mark.parametrize("path", READ_BY_OLD_PYTHONS)
def test_what_an_old_python_meets_first_is_readable_for_it(path: str) -> None:
    ast.parse((ROOT / path).read_text(encoding="utf-8"), path, feature_version=(3, 8))


def test_no_module_of_ours_is_taken_for_one_of_the_standard_library() -> None:
    """The directory of `bootstrap.py` leads the path while its first imports run."""
    ours = {path.stem for path in BOOTSTRAP.parent.glob("*")}
    assert not ours & set(sys.stdlib_module_names)


def test_an_old_python_with_no_newer_one_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    monkeypatch.setattr(environments, "_USUAL_PLACES", ())
    monkeypatch.setenv("PATH", "")
    assert bootstrap.main(["worker"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Python 3.11 or newer is needed; this is 3.8.18" in said.err
    assert "VERA_CCC_PYTHON" in said.err


def test_an_old_python_hands_over_to_a_newer_one(
    monkeypatch: pytest.MonkeyPatch, fake_executable: MakeExecutable
) -> None:
    newer = fake_executable("python3.12", "")
    became: list[str] = []
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", "worker"])
    monkeypatch.setenv("PATH", str(newer.parent))

    def become(argv: list[str]) -> None:
        became.extend(argv)
        raise SystemExit

    monkeypatch.setattr(bootstrap, "become", become)
    with pytest.raises(SystemExit):
        bootstrap.main(["worker"])
    assert became == [str(newer), "bootstrap.py", "worker"]


def test_the_running_python_is_used_when_it_has_everything() -> None:
    assert bootstrap.interpreter() == sys.executable
    done = run("--version")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, __version__, "")


def test_a_named_python_runs_the_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERA_CCC_PYTHON", sys.executable)
    done = run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, __version__)


def test_a_named_python_without_the_dependencies_is_told_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERA_CCC_PYTHON", sys.executable)
    monkeypatch.setattr(sys, "path", [])
    assert bootstrap.main(["--here", "worker"]) == 1
    said = capsys.readouterr().err
    assert "named by VERA_CCC_PYTHON, lacks" in said
    assert "psutil" in said
    assert "pathspec" in said


@pytest.mark.parametrize("value", ["python9.9", "./python3", "bin/python3", "~nobody9/python3"])
def test_a_named_python_that_is_not_there_is_quoted(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("VERA_CCC_PYTHON", value)
    done = run("--version")
    assert done.returncode == 1
    assert value in done.stderr
    assert "absolute path" in done.stderr


def test_modules_of_the_current_directory_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("argparse", "runpy", "vera_ccc_tools", "psutil", "tomllib"):
        write_file(tmp_path / f"{name}.py", "raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH")
    done = run("--version")
    assert (done.returncode, done.stdout.strip()) == (0, __version__)


def test_requirements_are_those_of_the_project_and_of_the_verbs_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(
        tmp_path / "pyproject.toml",
        '[project]\ndependencies = ["a>=1"]\n[project.optional-dependencies]\nmcp = ["b>=2"]\n',
    )
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    assert bootstrap.requirements("worker") == ["a>=1"]
    assert bootstrap.requirements("mcp") == ["a>=1", "b>=2"]


def test_requirements_of_an_installed_package_come_from_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = ["a>=1", "b>=2; extra == 'mcp'", 'c; extra == "other"']
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: listed)
    assert bootstrap.requirements() == ["a>=1"]
    assert bootstrap.requirements("mcp") == ["a>=1", "b>=2"]


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        ("ruamel.yaml>=0.18", True),
        ("Ruamel_YAML", True),
        ("ruamel.yaml>=0.18.6,<0.19", True),
        ("ruamel.yaml>=0.18,<0.18.6", False),
        ("ruamel.yaml<0.19,>=0.18", True),  # as metadata has it
        ("ruamel.yaml>=0.18.10", False),
        ("pre>=2.0", True),
        ("absent>=1", False),
        ("ruamel.yaml~=0.18", False),  # not understood: the cached environment is right
    ],
)
def test_requirements_are_met_by_what_is_installed(
    tmp_path: Path, requirement: str, *, met: bool
) -> None:
    for name in ("ruamel.yaml-0.18.6.dist-info", "pre-2.0rc1.dist-info"):
        (tmp_path / name).mkdir()
    missing = bootstrap.lacking([requirement], ["/nowhere", str(tmp_path)])
    assert missing == ([] if met else [requirement])


def test_the_project_s_own_requirements_are_understood() -> None:
    assert bootstrap.lacking(bootstrap.requirements("mcp"), sys.path) == []


def test_executables_are_looked_for_in_absolute_directories_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_executable: MakeExecutable
) -> None:
    planted = fake_executable("tool", "", directory=tmp_path / "project")
    real = fake_executable("tool", "", directory=tmp_path / "bin")
    monkeypatch.chdir(planted.parent)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "../project", str(real.parent)]))
    monkeypatch.setattr(environments, "_USUAL_PLACES", ())
    assert list(environments.find(["tool", "other"])) == [str(real)]


# --- made once, whole or not at all --------------------------------------------------------------


def test_a_directory_is_made_once(cache: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        environments.prepare(cache / "x", lambda it: made.append(it.directory), "x")
    assert made == [cache / "x"]


def test_one_whose_making_was_killed_is_made_again(cache: Path) -> None:
    write_file(cache / "x" / "half", "")
    environments.prepare(cache / "x", do_nothing, "x")
    assert [path.name for path in (cache / "x").iterdir()] == [".complete"]


def test_one_whose_making_fails_is_made_again(cache: Path) -> None:
    def fail(_: environments.Builder) -> None:
        raise Failure("cannot_prepare", "no network")

    made: list[Path] = []
    with pytest.raises(Failure, match="no network"):
        environments.prepare(cache / "x", fail, "x")
    environments.prepare(cache / "x", lambda it: made.append(it.directory), "x")
    assert made


def test_one_whose_python_was_removed_is_made_again(cache: Path) -> None:
    made: list[Path] = []

    def build(builder: environments.Builder) -> None:
        write_file(builder.directory / "pyvenv.cfg", "")
        made.append(builder.directory)

    for _ in range(2):
        environments.prepare(cache / "x", build, "x")
    assert len(made) == 2


def test_those_who_ask_at_the_same_time_share_one(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    made: list[Path] = []

    def build(builder: environments.Builder) -> None:
        begun.set()
        assert go_on.wait(30)
        made.append(builder.directory)

    first = threading.Thread(target=environments.prepare, args=(cache / "x", build, "x"))
    first.start()
    assert begun.wait(30)
    second = threading.Thread(target=environments.prepare, args=(cache / "x", build, "x"))
    second.start()
    go_on.set()
    first.join(30)
    second.join(30)
    assert made == [cache / "x"]


def test_a_wait_for_another_one_has_an_end(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "LOCK_SECONDS", 0.2)

    def build(_: environments.Builder) -> None:
        environments.prepare(cache / "x", do_nothing, "x again")

    with pytest.raises(Failure, match="Another process has been making x again"):
        environments.prepare(cache / "x", build, "x")


@pytest.mark.skipif(not POSIX, reason="a signal that cannot be caught is POSIX's")
def test_a_killed_maker_leaves_no_lock(cache: Path) -> None:
    program = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from vera_ccc_tools.boot import environments
def build(it):
    (it.directory / "half").touch()
    os.kill(os.getpid(), signal.SIGKILL)
environments.prepare(Path({str(cache / "x")!r}), build, "x")
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode < 0
    assert (cache / "x" / "half").exists()
    environments.prepare(cache / "x", do_nothing, "x")
    assert not (cache / "x" / "half").exists()


def test_a_program_that_fails_is_told_with_the_end_of_its_output(cache: Path) -> None:
    program = "import sys; print('a'); print('no such package', file=sys.stderr); sys.exit(3)"
    argv = [sys.executable, "-c", program]
    with pytest.raises(Failure) as raised:
        environments.prepare(cache / "x", lambda it: it.run(argv, "pip"), "x")
    assert "pip failed" in raised.value.message
    assert "no such package" in raised.value.message
    assert "x.log" in raised.value.message


def test_a_program_that_does_not_end_is_ended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "INSTALL_SECONDS", 0.2)
    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(Failure, match="pip did not end"):
        environments.prepare(cache / "x", lambda it: it.run(argv, "pip"), "x")
    assert not environments._running


def test_a_program_reads_nothing_and_is_not_led_astray(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    program = (
        "import os, sys; "
        "assert sys.stdin.read() == ''; "
        "assert not {'PYTHONPATH', 'PIP_TARGET'} & set(os.environ)"
    )
    argv = [sys.executable, "-c", program]
    environments.prepare(cache / "x", lambda it: it.run(argv, "pip"), "x")


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(tmp_path / "file", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "file"))
    with pytest.raises(Failure, match="Cannot make x in") as raised:
        environments.prepare(environments.cache_directory() / "x", do_nothing, "x")
    assert "XDG_CACHE_HOME" in tell(raised.value, Front.MODEL)


def test_a_python_that_makes_no_environments_is_named_with_the_remedy(
    cache: Path, fake_executable: MakeExecutable
) -> None:
    """Debian ships it without ensurepip."""
    broken = fake_executable("broken", "raise SystemExit('ensurepip is not available')")
    with pytest.raises(Failure) as raised:
        environments.prepare(cache / "x", lambda it: it.environment(str(broken), ["nothing"]), "x")
    assert raised.value.code == "no_venv"
    assert "ensurepip is not available" in raised.value.message
    assert "python3-venv" in tell(raised.value, Front.MODEL)
    assert not environments.is_whole(cache / "x")
