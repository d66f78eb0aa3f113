"""The environment that `bootstrap.py` makes for real."""

import json
import subprocess
import sys
from pathlib import Path

from helpers import ROOT
from vera_ccc_tools.boot import environments

BOOTSTRAP = ROOT / "vera_ccc_tools" / "bootstrap.py"
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def start() -> subprocess.Popen[str]:
    """Start the worker by a Python that does not see its installed packages."""
    return subprocess.Popen(
        [sys.executable, "-S", str(BOOTSTRAP), "worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_workers_that_start_at_once_share_one_new_environment(isolated_user: Path) -> None:
    """Each answers with one line and nothing else on standard output, pip's words included."""
    workers = [start() for _ in range(3)]
    answers = [worker.communicate(json.dumps(REQUEST) + "\n", timeout=300) for worker in workers]
    for worker, (out, err) in zip(workers, answers, strict=True):
        assert worker.returncode == 0, err
        (line,) = out.splitlines()
        assert len(json.loads(line)["result"]["tools"]) == 4
    said = "".join(err for _, err in answers)
    assert said.count("making its Python environment") == 1
    assert len(list(environments.cache_directory().glob("env-*/.complete"))) == 1
