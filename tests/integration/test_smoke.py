"""The smoke itself: that it passes here, and that nothing of it is left."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import POSIX, ROOT

ARGV = [sys.executable, str(ROOT / "scripts" / "smoke.py"), "--model", "hashing"]


@pytest.fixture
def smoke(ccc_executable: Path) -> dict[str, str]:
    """The environment of a smoke that finds the tests' ccc."""
    return {**os.environ, "VERA_CCC_EXECUTABLE": str(ccc_executable)}


def start(environ: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ARGV, *arguments],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )


def test_the_smoke_passes(smoke: dict[str, str]) -> None:
    with start(smoke) as process:
        output, _ = process.communicate(timeout=180)
    assert process.returncode == 0, output
    assert output.splitlines()[-1].startswith("passed ("), output
    assert "✗" not in output


@pytest.mark.skipif(not POSIX, reason="there is no such signal to send")
def test_an_interrupted_smoke_ends_what_it_has_started(smoke: dict[str, str]) -> None:
    lines: list[str] = []
    with start(smoke) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line.startswith("✓ ccc_init"):
                process.send_signal(signal.SIGTERM)
    output = "".join(lines)
    assert process.returncode == 128 + signal.SIGTERM, output
    assert "✓ everything ended" in output, output
    (playground,) = re.findall(r"Initialized (\S+)/repository", output)
    assert not Path(playground).exists()


def test_the_live_smoke_says_what_is_missing_and_changes_nothing(
    smoke: dict[str, str], tmp_path: Path, isolated_user: Path
) -> None:
    before = sorted(isolated_user.rglob("*"))
    process = subprocess.run(
        [*ARGV[:2], "--live"],
        env=smoke | {"VERA_CCC_EXECUTABLE": str(tmp_path / "none")},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert process.returncode == 1
    assert process.stdout.splitlines()[-1].startswith("failed: "), process.stdout
    assert sorted(isolated_user.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []
