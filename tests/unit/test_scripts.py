"""The scripts say how they are used, and do nothing else then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers import ROOT, SECONDS


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("scripts/test.py", "Groups: lint, types, js, unit, integration, e2e"),
        ("scripts/smoke.py", "--live"),
        ("benchmarks/run.py", "usage: run.py answers|"),
        ("benchmarks/run.py sync", "usage: run.py sync"),
    ],
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_printed_and_nothing_is_done(
    words: str, told: str, flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    script, *arguments = words.split()
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *arguments, flag],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    assert list(tmp_path.iterdir()) == []
