"""Disks that refuse and projects that hold odd or hostile things, under the real ccc."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from core_helpers import MakeExecutable
from faulty import call, make, posix_only
from helpers import write_file
from running_worker import Running, start, text_of
from vera_ccc_tools.ccc import project
from vera_ccc_tools.tools.session import Session

# --- a disk that refuses ----------------------------------------------------------------------

UNPRIVILEGED = """
import ctypes, os, resource, sys
# Modes hold for root too, once it may not override them: CAP_DAC_OVERRIDE and _READ_SEARCH.
if sys.platform == "linux":
    libc = ctypes.CDLL(None)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)
if sys.argv[1] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.execv(sys.executable, [sys.executable, "-m", "vera_ccc_tools", "worker"])
"""
"""Starts a worker as a user without rights over the files of others, or on a full disk."""


def searched(started: Running, cwd: Path, query: str) -> dict[str, Any]:
    given = {"query": query, "limit": 1}
    started.request("tools/call", name="ccc_search", arguments=given, cwd=str(cwd))
    return started.read()


@posix_only
@pytest.mark.parametrize("disk", ["full", "read-only"])
def test_where_the_sync_cannot_write_the_search_answers_with_one_line_more(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path, disk: str
) -> None:
    top = make(tmp_path / "repo")
    assert not call(Session(ccc_home), top, "ccc_index")[1]["isError"]
    write_file(top / ".gitignore", "/.cocoindex_code/\nwalnut.py\n")
    directory, settings = top / project.DIRECTORY, project.settings_path(top)
    before = settings.read_bytes(), sorted(path.name for path in directory.iterdir())
    if disk == "read-only":
        settings.chmod(0o444)
        directory.chmod(0o555)
    started = start(running, {**ccc_home, "PYTHONDONTWRITEBYTECODE": "1"}, "-c", UNPRIVILEGED, disk)
    try:
        text = text_of(searched(started, top, "only almond"))
        started.request("tools/call", name="ccc_doctor", arguments={}, cwd=str(top))
        checked = text_of(started.read())
    finally:
        directory.chmod(0o755)
    assert text.startswith("almond.py:1-1 [python]"), text
    # A second line may say that the daemon, whom the modes bind too, failed at a file.
    said = "Note: The ignore rules could not be brought up to date: "
    (note,) = [line for line in text.split("\n") if line.startswith(said)]
    assert ("File too large" if disk == "full" else "Permission denied") in note
    unwritable = f"✗ project: {top}: ccc cannot write into the project's directory"
    assert (unwritable in checked) == (disk == "read-only")
    after = settings.read_bytes(), sorted(path.name for path in directory.iterdir())
    assert after[0] == before[0]
    assert not [name for name in after[1] if "tmp" in name]


@posix_only
def test_a_directory_that_may_not_be_read_is_an_error_with_its_path(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    (closed / "inside").mkdir(parents=True)
    started = start(running, ccc_home, "-c", UNPRIVILEGED, "closed")
    closed.chmod(0)
    try:
        told = [searched(started, each, "almond") for each in (closed, closed / "inside")]
    finally:
        closed.chmod(0o755)
    for answer in told:
        assert answer["result"]["isError"]
        assert f"'{closed}" in text_of(answer)
        assert "Permission denied" in text_of(answer)


def test_a_directory_that_goes_away_is_an_error_with_its_path(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    started = start(running, ccc_home)
    assert "belongs to no ccc project" in text_of(searched(started, gone, "almond"))
    gone.rmdir()
    assert f"{str(gone)!r} cannot be used: No such file" in text_of(searched(started, gone, "x"))


# --- what a project may hold ------------------------------------------------------------------


@posix_only
def test_nothing_that_a_project_plants_is_run(
    running: list[Running],
    ccc_home: dict[str, str],
    tmp_path: Path,
    fake_executable: MakeExecutable,
) -> None:
    top = make(tmp_path / "repo")
    planted = f"open({str(tmp_path / 'ran')!r}, 'a').write(repr(__import__('sys').argv))\n"
    for place in ("", "bin"):
        for name in ("ccc", "git", "python", "python3"):
            fake_executable(name, planted, directory=top / place)
    for module in ("json", "psutil", "sitecustomize", "vera_ccc_tools", "cocoindex_code"):
        write_file(top / f"{module}.py", planted)
    real = Path(ccc_home["VERA_CCC_EXECUTABLE"]).parent
    path = os.pathsep.join(["", ".", "bin", str(real), ccc_home["PATH"]])
    environ = {name: value for name, value in ccc_home.items() if name != "VERA_CCC_EXECUTABLE"}
    started = start(running, {**environ, "PATH": path, "VERA_CCC_PYTHON": sys.executable})
    for tool, given in (("ccc_index", {}), ("ccc_search", {"query": "almond"}), ("ccc_doctor", {})):
        started.request("tools/call", name=tool, arguments=given, cwd=str(top))
        answer = started.read()
        assert not answer["result"]["isError"], answer
    assert str(real / "ccc") in text_of(answer)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
def test_a_name_that_is_not_utf_8_is_the_cause_that_is_told(
    ccc_home: dict[str, str], tmp_path: Path
) -> None:
    top = make(tmp_path / "repo")
    odd = write_file(Path(os.fsdecode(os.fsencode(top) + b"/by\xfftes.py")), "bytes_almond = 1\n")
    text, result = call(Session(ccc_home), top, "ccc_index")
    assert result["details"] == {"code": "odd_name"}
    assert "whose name is not UTF-8" in text
    odd.unlink()
    assert not call(Session(ccc_home), top, "ccc_index")[1]["isError"]


@posix_only
def test_odd_bytes_in_names_and_contents_come_out_as_clean_text(
    running: list[Running], ccc_home: dict[str, str], tmp_path: Path
) -> None:
    odd: dict[str, str | bytes] = {
        "latin.py": b"latin_almond = 'caf\xe9'\n",
        "nul.py": b"nul_almond = 'a\x00b'\n",
        "c1.py": "c1_almond = '\x9b2Jx\x85y'\n",
        "esc\x1b]0;title\x07.py": "title_almond = 1\n",
        "\u202egnp.py": "bidi_almond = 1\n",
        "c1\x9b31m.py": "name_almond = 1\n",
    }
    top = make(tmp_path / "odd\x1b[2J\u2066", odd)
    started = start(running, ccc_home)
    said = []
    for tool, given in (
        ("ccc_index", {}),
        ("ccc_search", {"query": "almond", "limit": 50}),
        ("ccc_search", {"query": "almond", "path": "no\x1b[2Jne"}),
        ("ccc_doctor", {}),
    ):
        started.request("tools/call", name=tool, arguments=given, cwd=str(top))
        said.append(text_of(started.read()))
    started.request("status", cwd=str(top))
    said.append(started.read()["result"]["text"])
    for word in ("latin_almond", "c1_almond", "title_almond", "bidi_almond", "name_almond"):
        assert word in said[1]
    for text in said:
        assert not set(text) & {chr(each) for each in range(32) if chr(each) not in "\t\n"}
        assert not set(text) & set("\x7f\x85\x9b\u202e\u2066\ufffe")
