"""What a person sees of the tools in Pi's terminal, at the widths that terminals have."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from conftest import MakeRepository
from e2e.conftest import FakeWorker
from e2e.model_stub import ModelStub, use
from e2e.pi import Pi
from helpers import POSIX

if not POSIX:
    pytest.skip("the terminal is a pseudo-terminal", allow_module_level=True)

from e2e.terminal import EXPAND, Terminal, opened

WIDTHS = (60, 100, 160)
newest_pi = pytest.mark.parametrize("pi_version", ["1.6.0"], indirect=True)
PYTHON = '''"""Uploads."""
import time


def retry_upload(file):
    """retry a failed upload

    as often as it takes
    """
    while True:
\tfile.send("\x1b[31mred\x07") or time.sleep(1)
'''
COMMENT = "とても長いコメント" * 12
GO = f"""// retry a failed upload 失敗 🚀 e\u0301te\u0301
package net

func RetryUpload() {{ wait() }} // {COMMENT}
"""


@pytest.fixture
def wide(git_repo: MakeRepository) -> Path:
    """A repository with long names, wide characters, and what moves a cursor."""
    return git_repo(
        {
            "src/upload.py": PYTHON,
            "packages/server/internal/net/upload_with_a_long_name.go": GO,
            "docs/アップロード.md": "# Uploads\n\nretry a failed upload 🚀 with a backoff\n",
        }
    )


def rows(terminal: Terminal, *words: str) -> list[str]:
    """The lines that hold one of *words*, without the padding of the view."""
    return [line.strip() for line in terminal.lines if any(word in line for word in words)]


def test_a_search_is_whole_at_each_width_collapsed_and_expanded(
    pi: Pi, model: ModelStub, wide: Path
) -> None:
    search = use("ccc_search", query="retry a failed upload", limit=3)
    model.say([use("ccc_index"), search, "That is all."])
    with opened(pi, wide, "find it", size=(100, 90)) as terminal:
        terminal.wait("That is all.")
        terminal.wait("ccc ✓ 3 files")
        for see in (see_collapsed, see_expanded):
            for width in WIDTHS:
                terminal.resize(width)
                terminal.shows(partial(see, terminal, width))
            terminal.press(EXPAND)


def see_collapsed(terminal: Terminal, width: int) -> None:
    assert rows(terminal, "✓ 3 files, ")[0].startswith("✓ 3 files, 3 chunks · 3 added · ")
    assert rows(terminal, "ccc_search") == ['ccc_search "retry a failed upload" limit 3']
    python, go, markdown = (rows(terminal, ending)[0] for ending in (".py:1-", ".go:1-", ".md:1-"))
    assert python.startswith("src/upload.py:1-11 ")
    assert "  python 0." in python
    assert python.endswith("  def retry_upload(file):" if width > 60 else "…")
    assert go.startswith("packages/server/" if width > 100 else "…")
    assert ("upload_with_a_long_name.go:1-4 " if width > 60 else "name.go:1-4 ") in go
    assert "  go 0." in go
    assert "  func RetryUp" in go
    assert markdown.startswith("docs/アップロード.md:1-3 ")
    assert markdown.endswith("  # Uploads")
    assert rows(terminal, "3 results · ")[0].endswith(" s · ctrl+o expands")


def see_expanded(terminal: Terminal, width: int) -> None:
    assert rows(terminal, "─" * width)
    assert rows(terminal, "def retry_upload") == ["5  def retry_upload(file):"]
    assert rows(terminal, "file.send") == ['11      file.send("red") or time.sleep(1)']
    assert "1  // retry a failed upload 失敗 🚀 été" in rows(terminal, "失敗")[0].replace("é", "é")
    assert "1  # Uploads" in rows(terminal, "# Uploads")
    shown = "".join(line.strip() for line in terminal.lines)
    assert COMMENT in shown
    assert not rows(terminal, "ctrl+o expands")


@newest_pi
def test_a_failure_shows_its_cause_and_the_remedy_first(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    model.say([use("ccc_search", query="upload", rank="ccc"), "That is all."])
    with opened(pi, project, "find it", size=(60, 50)) as terminal:
        terminal.wait("ccc ✗ not indexed")
        terminal.wait("That is all.")
        lines = [line.strip() for line in terminal.lines]
    cause = next(at for at, line in enumerate(lines) if line.startswith("✗ "))
    assert lines[cause - 1] == 'ccc_search "upload" ranked by ccc'
    said = " ".join(lines[cause : lines.index("That is all.")])
    assert "belongs to no ccc project. Call ccc_index" in said


@newest_pi
def test_progress_is_live_in_the_call_and_in_the_footer(
    pi: Pi, model: ModelStub, fake_worker: FakeWorker, project: Path, tmp_path: Path
) -> None:
    step = tmp_path / "step"
    fake_worker.sees(state="unindexed", root="/p", files=0)
    fake_worker.behaves(
        "import os, time\n"
        "    for at in (12, 1204):\n"
        "        text = f'Indexing: {at:,} files done (3 changed), 45 files/s, 27 s'\n"
        "        progress(text, done=at)\n"
        f"        while not os.path.exists({str(step)!r} + str(at)): time.sleep(0.01)"
    )
    pi.env["VERA_CCC_PYTHON"] = str(fake_worker.python)
    model.say([use("ccc_index"), "That is all."])
    with opened(pi, project, "index it") as terminal:
        terminal.wait("● Indexing: 12 files done (3 changed), 45 files/s, 27 s")
        terminal.wait("ccc ● indexing 12 files")
        fake_worker.sees(state="indexing", root="/p", files=0, progress={"done": 26})
        Path(f"{step}12").touch()
        terminal.wait("● Indexing: 1,204 files done")
        terminal.wait("ccc ● indexing 1,204 files")
        fake_worker.sees(state="ready", root="/p", files=5711)
        Path(f"{step}1204").touch()
        terminal.wait("ccc ✓ 5,711 files")
        assert "● Indexing" not in terminal.text


@newest_pi
def test_a_background_run_is_in_the_footer_until_it_is_done(
    pi: Pi, fake_worker: FakeWorker, project: Path
) -> None:
    job = {"tool": "ccc_index", "running": True, "failed": False, "line": ""}
    fake_worker.sees(state="indexing", root="/p", files=7, job=job)
    pi.env["VERA_CCC_PYTHON"] = str(fake_worker.python)
    with opened(pi, project) as terminal:
        terminal.wait("ccc ● indexing 7 files")
        line = "/ccc-index in the background failed: no room."
        fake_worker.sees(
            state="unindexed",
            root="/p",
            files=0,
            job={**job, "running": False, "failed": True, "line": line},
        )
        terminal.wait("ccc ✗ not indexed")
        terminal.wait("/ccc-index in the background failed: no room.")
