"""What is around a chunk is shown once, short, and within bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from conftest import MakeRepository
from helpers import write_file
from vera_ccc_tools.calls import Call
from vera_ccc_tools.context import table
from vera_ccc_tools.context.chunks import Chunk
from vera_ccc_tools.context.reading import Reading
from vera_ccc_tools.context.state import State

PLACE = re.compile(r"^(\S+):\d+-\d+ \(\w+/\w+\) #[0-9a-f]{16}$", re.MULTILINE)


class Asked:
    """A chunk that was served, and the tools that are asked about it."""

    def __init__(self, root: Path, chunk: Chunk) -> None:
        self.state = State(root)
        self.state.served(root).remember([chunk])
        self.chunk = chunk

    def __call__(self, tool: str, **given: object) -> str:
        arguments = {"chunk_id": self.chunk.id, **given}
        answer = table.call(self.state, tool, arguments, Call(self.state.directory))
        assert not answer.failed, answer
        return answer.text


MakeAsked = Callable[[Mapping[str, str], str], Asked]


@pytest.fixture
def asking(git_repo: MakeRepository) -> Iterator[MakeAsked]:
    """Ask about the first unit of a file; that there is an index is all that is seen of it."""
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
