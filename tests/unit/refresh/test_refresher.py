"""What a search tells of the index run that it asked for."""

from __future__ import annotations

from pathlib import Path

from core_helpers import MakeExecutable, answer, environment, fake_ccc, make_project, places, row
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session

RUN = "9 files listed | 1 added, 0 deleted, 0 reprocessed, 6 unchanged, error: 2"


def test_files_that_could_not_be_indexed_are_told_with_the_results(
    fake_executable: MakeExecutable, tmp_path: Path
) -> None:
    body = f"""
        print({answer(row())!r})
        if "--refresh" in argv:
            print("Indexing: {RUN}", file=sys.stderr)
    """
    fake = fake_ccc(fake_executable, tmp_path, body)
    session = Session(environment(VERA_CCC_EXECUTABLE=str(fake.path), VERA_CCC_GITIGNORE_SYNC="0"))
    root = make_project(tmp_path / "p")
    result = table.call_tool(session, "ccc_search", {"query": "x"}, Call(root))
    text = str(result["content"][0]["text"])
    assert text.startswith("app.py:1-1 [python] 0.500")
    log = places(session.environment.variables).daemon_log
    assert text.endswith(f"Note: 2 files could not be indexed; {log} says why.")
    given = {"query": "x", "refresh_index": False}
    text = str(table.call_tool(session, "ccc_search", given, Call(root))["content"][0]["text"])
    assert "Note:" not in text
