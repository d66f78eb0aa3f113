"""The npm package: what is in it, and that it runs by itself."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

import environment
from e2e.model_stub import ModelStub, use
from e2e.pi import Pi
from helpers import ROOT, run_git

RUNS = ("agent/settings.json", "extension/", "skills/", "vera_ccc_tools/")
TOLD = {"package.json", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"}


@pytest.fixture(scope="module")
def unpacked(node_24: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as npm packs this checkout, unpacked."""
    directory = tmp_path_factory.mktemp("package")
    done = subprocess.run(
        [*environment.npm(node_24), "pack", "--json", "--pack-destination", str(directory)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    (packed,) = json.loads(done.stdout)
    with tarfile.open(directory / packed["filename"]) as archive:
        archive.extractall(directory, filter="data")
    return directory / "package"


def test_the_package_holds_every_file_that_runs_and_no_other(unpacked: Path) -> None:
    listed = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["files"]
    scripts = {name for name in listed if name.startswith("scripts/")}
    tracked = run_git(ROOT, "ls-files", "-coz", "--exclude-standard").split("\0")
    runs = {name for name in tracked if name.startswith(RUNS)}
    files = {
        path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()
    }
    assert files == runs | scripts | TOLD


@pytest.mark.parametrize("pi_version", ["1.6.0"], indirect=True)
def test_the_package_runs_without_the_checkout(
    pi: Pi, model: ModelStub, unpacked: Path, project: Path
) -> None:
    del pi.env["PYTHONPATH"]
    pi.configure(unpacked)
    model.say([use("ccc_index"), use("ccc_search", query="retry a failed upload", limit=1)])
    assert pi.print("find it", project).returncode == 0
    assert model.requests[-1].tool_result.startswith("src/upload.py:1-2 [python] ")
    assert "/ccc-search" in pi.print("/ccc-search", project).stderr
