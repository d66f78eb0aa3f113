"""What is around a chunk is shown once, short, and within bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from conftest import MakeRepository
from helpers import SECONDS, write_file
from vera_ccc_tools.chunks.chunk import Chunk
from vera_ccc_tools.chunks.reading import Reading
from vera_ccc_tools.import_graph import graph
from vera_ccc_tools.mcp_server import table
from vera_ccc_tools.mcp_server.state import ServerState
from vera_ccc_tools.system.call import Call

PLACE = re.compile(r"^(\S+):\d+-\d+ \(\w+/\w+\) #[0-9a-f]{16}$", re.MULTILINE)


class Asked:
    """A chunk that was served, and the tools that are asked about it."""

    def __init__(self, root: Path, chunk: Chunk) -> None:
        self.state = ServerState(root)
        self.state.served(root).remember([chunk])
        self.chunk = chunk

    def __call__(self, tool: str, **given: object) -> str:
        arguments = {"chunk_id": self.chunk.id, **given}
        answer = table.call(self.state, tool, arguments, Call(self.state.directory))
        assert not answer.failed, answer
        return answer.text


MakeAsked = Callable[[Mapping[str, str], str], Asked]


@pytest.fixture
def asking(git_repo: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeAsked]:
    """Ask about the first unit of a file; that there is an index is all that is seen of it."""
    monkeypatch.setattr(graph, "PATIENCE", SECONDS)  # however long the first build takes
    made: list[Asked] = []

    def make(files: Mapping[str, str], path: str) -> Asked:
        root = git_repo({**files, ".gitignore": "/.cocoindex_code/\n"}).resolve()
        write_file(root / ".cocoindex_code" / "settings.yml", "")
        write_file(root / ".cocoindex_code" / "target_sqlite.db", "an index")
        chunk = next(each for each in Reading(root, root).units(path) if each.is_unit)
        made.append(Asked(root, chunk))
        return made[-1]

    yield make
    for each in made:
        each.state.close()


def functions(count: int, imports: str = "", name: str = "f") -> str:
    body = f'    """{"What it does. " * 8}"""\n    first = 1\n    second = 2\n    return first\n'
    return f"{imports}\n\n" + "\n\n".join(f"def {name}{n}(x):\n{body}" for n in range(count))


def places(text: str) -> list[str]:
    return PLACE.findall(text)


# --- related --------------------------------------------------------------------------------------


def test_what_imports_a_file_that_it_imports_is_shown_once(asking: MakeAsked) -> None:
    files = {
        "a.py": "import b\nimport c\n\n\ndef one():\n    return b.two()\n",
        "b.py": "import a\n\n\ndef two():\n    return a.one()\n",
        "c.py": "def three():\n    return 3\n",
        "d.py": "import a\n",
    }
    text = asking(files, "a.py")("related_context")
    assert sorted(places(text)) == ["b.py", "b.py", "c.py", "d.py"]
    assert text.startswith("related to a.py via import graph — 4 chunk(s):\n\nit imports:\n\nc.py:")
    assert "\n\nit is imported by:\n\nd.py:" in text
    assert "\n\nit imports, and is imported by:\n\nb.py:4-5 (function/" in text


# --- neighbours -----------------------------------------------------------------------------------


def test_neighbours_are_short_and_stand_file_by_file(asking: MakeAsked) -> None:
    files = {
        "a.py": "import b\n\n\ndef one():\n    return b.two0()\n",
        "b.py": functions(3, name="two"),
        "c.py": functions(2, "import a\n"),
    }
    text = asking(files, "a.py")("expand_chunk", scope="neighbors")
    shown = places(text)
    assert text.startswith(f"neighbours of a.py — {len(shown)} chunk(s):\n\nb.py:")
    assert shown == sorted(shown)
    assert {"b.py", "c.py"} == set(shown)
    assert "def two2(x):" in text
    assert "second" not in text


def test_of_many_neighbours_each_file_has_a_share_and_the_rest_is_counted(
    asking: MakeAsked,
) -> None:
    importers = {f"m{n}.py": functions(40, "import a\n") for n in range(5)}
    files = {"a.py": "def one():\n    return 1\n", **importers}
    asked = asking(files, "a.py")
    text = asked("expand_chunk", scope="neighbors")
    assert len(text.encode()) <= 12 * 1024 + 200
    shown = places(text)
    assert set(shown) == set(importers)
    reading = Reading(asked.state.directory, asked.state.directory)
    whole = sum(len(reading.units(name)) for name in importers)
    assert text.startswith(f"neighbours of a.py — {whole} chunk(s):")
    assert text.endswith(f"\n\n… (+{whole - len(shown)} more chunks in 5 files)")
    assert f"chunks ({len(shown)}):" in asked.state.ledger.digest("files")


def test_the_neighbour_that_uses_the_chunk_is_shown_before_the_room_ends(asking: MakeAsked) -> None:
    user = "\n\ndef user():\n    return a.one()\n"
    files = {
        "a.py": "def one():\n    return 1\n",
        "b.py": functions(200, "import a\n") + user,
    }
    text = asking(files, "a.py")("expand_chunk", scope="neighbors")
    assert "\ndef user():\nreturn a.one()\n" in text
    assert "more chunks in 1 files)" in text


def test_a_neighbour_of_one_very_long_line_leaves_room_for_others(asking: MakeAsked) -> None:
    files = {
        "a.py": "def one():\n    return 1\n",
        "b.py": f"import a\nDATA = {'x' * 50_000!r}\n",
        "c.py": functions(2, "import a\n"),
    }
    text = asking(files, "a.py")("expand_chunk", scope="neighbors")
    assert len(text.encode()) <= 12 * 1024
    assert set(places(text)) == {"b.py", "c.py"}


def test_files_beyond_those_that_are_read_are_counted_too(asking: MakeAsked) -> None:
    importers = {f"m{n:03}.py": "import a\n" for n in range(60)}
    text = asking({"a.py": "def one():\n    return 1\n", **importers}, "a.py")(
        "expand_chunk", scope="neighbors"
    )
    assert len(places(text)) == 50
    assert text.endswith("\n\n… (+10 more files)")
