"""The wheel, as a user installs it: built, installed into a fresh environment, and used there."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers import ROOT
from vera_ccc_tools import __version__
from vera_ccc_tools.boot import environments

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def run(*argv: str, cwd: Path, given: str = "") -> str:
    done = subprocess.run(
        argv, input=given, cwd=cwd, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
    run(*PIP, "wheel", *options, str(ROOT), cwd=target)
    (path,) = target.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"vera_ccc_tools", f"vera_ccc_tools-{__version__}.dist-info"}
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "vera_ccc_tools").rglob("*.py")}
    assert sources <= set(names)


def test_the_installed_wheel_works(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", str(environment), cwd=tmp_path)
    python = str(environments.python_of(environment))
    run(*PIP, "--python", python, "install", "--no-input", str(wheel), cwd=tmp_path)
    assert run(python, "-m", "vera_ccc_tools", "--version", cwd=tmp_path).strip() == __version__
    script = environment / environments.BIN / f"vera-ccc{environments.EXE}"
    assert run(str(script), "--version", cwd=tmp_path).strip() == __version__
    assert "vera-ccc search" in run(str(script), "search", "--help", cwd=tmp_path)
    listed = json.loads(run(python, "-m", "vera_ccc_tools", "tools", cwd=tmp_path))["tools"]
    for module in ("vera_ccc_tools", "vera_ccc_tools.bootstrap"):
        request = json.dumps(REQUEST) + "\n"
        answer = run(python, "-m", module, "worker", cwd=tmp_path, given=request)
        assert json.loads(answer)["result"]["tools"] == listed
