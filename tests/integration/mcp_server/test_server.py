"""The nine tools over standard input and output, by the SDK's own client, with the real ccc."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import run_git, write_file
from mcp_client import Connected, connected
from vera_ccc_tools.mcp_server import table
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.tools import table as tools
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.usage.events import Metrics

AUTH = '''"""Authentication helpers."""

import hashlib

ROUNDS = 1000


def hash_password(password: str, salt: str) -> str:
    """Hash a password with a salt using SHA-256.

    This is the single place passwords are hashed; callers never hash
    inline. Returns the hex digest.
    """
    digest = hashlib.sha256((salt + password).encode()).hexdigest()
    for _ in range(ROUNDS):
        digest = hashlib.sha256((salt + digest).encode()).hexdigest()
    return digest


def verify_password(password: str, salt: str, expected: str) -> bool:
    """Return True when the password hashes to the expected digest."""
    return hash_password(password, salt) == expected
'''
PAYMENTS = '''import auth


def process_payment(amount: int, salt: str) -> str:
    """Charge an amount of money and sign the receipt."""
    receipt = str(amount)
    return auth.hash_password(receipt, salt)
'''
FILES = {
    "auth.py": AUTH,
    "payments.py": PAYMENTS,
    "notes.md": "# Notes\n\nHow the colours of a picture are mixed.\n",
    ".gitignore": "/.cocoindex_code/\n/.cce/*\n",
}
HEADER = re.compile(
    r"^ ?(\d+)\. \[(-?\d\.\d{6})\] (\S+?):(\d+)-(\d+) \((\w+)/(\w+)\) #([0-9a-f]{16})$"
)
HINT = (
    "Bodies shown compact. expand_chunk(chunk_id, scope=body|file|neighbors) for more; "
    "related_context(chunk_id) for import-graph neighbours.\n"
)
QUERY = "where is a password hashed with a salt"
COMPACT = '''def hash_password(password: str, salt: str) -> str:
"""Hash a password with a salt using SHA-256.
digest = hashlib.sha256((salt + password).encode()).hexdigest()
… (+7 lines)
'''
BODY = AUTH[AUTH.index("def hash_password") : AUTH.index("\n\n\ndef verify_password")]


@dataclass(frozen=True)
class Result:
    """One result, as its header line says."""

    path: str
    first: int
    last: int
    type: str
    kind: str
    id: str


def results(text: str) -> list[Result]:
    """The results of a search; their ranks count from 1."""
    found = [match for line in text.splitlines() if (match := HEADER.match(line))]
    assert [int(match[1]) for match in found] == list(range(1, len(found) + 1))
    return [
        Result(match[3], int(match[4]), int(match[5]), match[6], match[7], match[8])
        for match in found
    ]


def query_id(text: str) -> str:
    found = re.search(r"^query_id: ([0-9a-f]{12})$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def make_project(environ: dict[str, str], root: Path) -> Path:
    root.mkdir(parents=True)
    run_git(root, "init", "-q")
    for name, text in FILES.items():
        write_file(root / name, text)
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "files")
    indexed = tools.call_tool(Session(environ), "ccc_index", {}, Call(root))
    assert not indexed["isError"], indexed
    return root


@pytest.fixture(scope="module")
def root(ccc_home: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(ccc_home, tmp_path_factory.mktemp("context").resolve() / "p")


@pytest.fixture(scope="module")
def server(ccc_home: dict[str, str], root: Path) -> Iterator[Connected]:
    with connected(ccc_home, root) as client:
        yield client


@pytest.fixture(scope="module")
def found(server: Connected) -> Result:
    """The function that hashes passwords."""
    first, *_ = results(server.text("context_search", query=QUERY))
    return first


def test_the_tools_are_the_nine_in_their_order(server: Connected) -> None:
    assert [(tool.name, tool.description, tool.input_schema) for tool in server.tools()] == [
        (tool.name, tool.description, tool.schema) for tool in table.TOOLS
    ]


def test_each_tool_has_a_title_and_says_whether_it_writes(server: Connected) -> None:
    hints = {tool.name: tool.annotations for tool in server.tools()}
    assert all(tool.title for tool in server.tools())
    assert all(each and not each.destructive_hint for each in hints.values())
    writing = {name for name, each in hints.items() if each and not each.read_only_hint}
    assert writing == {"record_feedback", "set_output_compression", "record_decision"}
    assert [name for name, each in hints.items() if each and not each.idempotent_hint] == [
        "record_feedback"
    ]


def test_a_search_gives_units_with_ids_and_ends_in_the_hint_and_the_query_id(
    server: Connected,
) -> None:
    text = server.text("context_search", query=QUERY)
    first, *others = results(text)
    assert (first.path, first.first, first.last) == ("auth.py", 8, 17)
    assert (first.type, first.kind) == ("function", "function_definition")
    assert "payments.py" in {other.path for other in others}
    assert text.split("\n", 1)[1].startswith(f"{COMPACT}\n 2. [")
    said = query_id(text)
    assert text.endswith(
        f"\n\n{HINT}query_id: {said}\n"
        f'Rate this with record_feedback (query_id="{said}", helpful=true|false).'
    )


def test_the_details_differ_in_how_much_they_show(server: Connected, found: Result) -> None:
    bodies = {
        detail: server.text("context_search", query=QUERY, detail=detail, top_k=1)
        for detail in ("signature", "compact", "full")
    }
    assert all(results(text) == [found] for text in bodies.values())
    assert bodies["signature"].split("\n")[1:3] == [BODY.split("\n")[0], ""]
    assert f"\n{BODY}\n\nquery_id: " in bodies["full"]
    assert HINT.replace("compact", "as signatures") in bodies["signature"]
    assert "Bodies shown" not in bodies["full"]


def test_the_projects_own_setting_is_the_default_detail(
    ccc_home: dict[str, str], tmp_path: Path
) -> None:
    root = make_project(ccc_home, tmp_path.resolve() / "p")
    write_file(root / ".cce" / "config", "retrieval:\n  detail: full\n")
    with connected(ccc_home, root) as server:
        assert BODY in server.text("context_search", query=QUERY)
        write_file(root / ".cce" / "config", "retrieval:\n  detail: tiny\n")
        assert "'tiny'" in server.error("context_search", query=QUERY)


def test_max_tokens_cuts_bodies_and_says_so(server: Connected) -> None:
    text = server.text("context_search", query=QUERY, detail="full", max_tokens=10)
    assert len(results(text)) == 1
    body = text.split("\n", 1)[1].split("\n\n… (context truncated to max_tokens)\n\n")[0]
    assert body == BODY[:40]


@pytest.mark.parametrize(("given", "most"), [(0, 8), (-5, 8), (1, 1), (2, 2), (10_000, 50)])
def test_top_k_is_held_within_reason(given: int, most: int, server: Connected) -> None:
    assert 1 <= len(results(server.text("context_search", query="a", top_k=given))) <= most


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"package": "billing"}, "Note: `package` comes later"),
        ({"source": "both"}, "Note: `source` comes later"),
        ({"source": "knowledge"}, "Note: `source` comes later"),
    ],
)
def test_what_comes_later_is_said_in_one_line_and_the_code_is_searched(
    given: dict[str, str], note: str, server: Connected, found: Result
) -> None:
    text = server.text("context_search", query=QUERY, **given)
    assert text.count(note) == 1
    assert results(text)[0] == found
    assert "Note:" not in server.text("context_search", query=QUERY, source="code")


def test_every_search_is_logged_under_the_id_that_was_told(server: Connected, root: Path) -> None:
    text = server.text("context_search", query="password = hunter2hunter2", top_k=2)
    said = server.text("record_feedback", query_id=query_id(text), helpful=True, note="it was")
    assert "unknown" not in said
    *_, search, feedback = Metrics(root).read().entries
    assert search["id"] == query_id(text) == feedback["target_id"]
    assert search["event"] == "search"
    assert search["source"] == "mcp"
    assert search["top_k"] == search["result_count"] == 2
    assert "hunter2" not in json.dumps(search)
    assert search["baseline_tokens"] >= search["served_tokens"] > 0
    assert run_git(root, "status", "--porcelain") == ""


def test_a_chunk_is_expanded_to_its_exact_body(server: Connected, found: Result) -> None:
    assert server.text("expand_chunk", chunk_id=found.id) == BODY
    assert server.text("expand_chunk", chunk_id=f"#{found.id}", scope="body") == BODY


def test_the_scope_file_holds_every_line_of_the_file_once(server: Connected, found: Result) -> None:
    text = server.text("expand_chunk", chunk_id=found.id, scope="file")
    assert text.startswith("file auth.py — ")
    places = re.findall(r"^auth\.py:(\d+)-(\d+) \(\w+/\w+\) #[0-9a-f]{16}$", text, re.MULTILINE)
    lines = [line for first, last in places for line in range(int(first), int(last) + 1)]
    assert len(lines) == len(set(lines))
    for line in filter(None, AUTH.split("\n")):
        assert line in text


def test_the_neighbours_are_listed_with_ids_to_expand(server: Connected, found: Result) -> None:
    text = server.text("expand_chunk", chunk_id=found.id, scope="neighbors")
    assert text.startswith("neighbours of auth.py — ")
    shown = re.findall(r"^(\S+):\d+-\d+ \(\w+/\w+\) #\w{16}$", text, re.MULTILINE)
    assert set(shown) == {"payments.py"}
    assert "\ndef process_payment(amount: int, salt: str) -> str:\n" in text
    assert "    return auth.hash_password(receipt, salt)" not in text


def test_related_are_imports_and_consumers_each_with_an_id_to_expand(
    server: Connected, found: Result
) -> None:
    text = server.text("related_context", chunk_id=found.id)
    assert text.startswith("related to auth.py via import graph — ")
    assert "it is imported by:" in text
    consumer = re.search(
        r"^payments\.py:4-7 \(function/function_definition\) #(\w{16})$", text, re.MULTILINE
    )
    assert consumer is not None
    assert "return auth.hash_password" in server.text("expand_chunk", chunk_id=consumer[1])
    back = server.text("related_context", chunk_id=consumer[1], top_k=1)
    assert "it imports:" in back
    assert f"#{found.id}" in back


def test_a_file_without_neighbours_says_so(server: Connected) -> None:
    text = server.text("context_search", query="how the colours of a picture are mixed", top_k=1)
    (notes,) = results(text)
    for tool, given in (("related_context", {}), ("expand_chunk", {"scope": "neighbors"})):
        said = server.text(tool, chunk_id=notes.id, **given)
        assert said.startswith("No import-graph neighbours for notes.md")


@pytest.mark.parametrize("tool", ["expand_chunk", "related_context"])
def test_an_unknown_chunk_is_told_in_a_friendly_way(tool: str, server: Connected) -> None:
    said = server.text(tool, chunk_id="0123456789abcdef")
    assert "'0123456789abcdef'" in said
    assert "re-run context_search" in said


def test_a_new_server_gives_the_same_bytes_and_knows_the_old_ids(
    server: Connected, ccc_home: dict[str, str], root: Path, found: Result
) -> None:
    warm = server.text("context_search", query=QUERY)
    with connected(ccc_home, root) as other:
        assert other.text("expand_chunk", chunk_id=found.id) == BODY
        cold = other.text("context_search", query=QUERY)
    assert cold.replace(query_id(cold), "") == warm.replace(query_id(warm), "")


def test_below_the_root_paths_are_shown_from_there_and_the_memory_is_the_projects(
    ccc_home: dict[str, str], root: Path
) -> None:
    below = root / "docs"
    below.mkdir()
    with connected(ccc_home, below) as server:
        text = server.text("context_search", query=QUERY)
    assert results(text)[0].path == "../auth.py"
    assert Metrics(root).read().entries[-1]["id"] == query_id(text)
    assert not (below / ".cce").exists()


def test_an_edit_is_seen_at_the_next_call(ccc_home: dict[str, str], tmp_path: Path) -> None:
    root = make_project(ccc_home, tmp_path.resolve() / "p")
    with connected(ccc_home, root) as server:
        old, *_ = results(server.text("context_search", query=QUERY))
        write_file(
            root / "auth.py", AUTH.replace("import hashlib\n", "import hashlib\nimport os\n")
        )
        moved, *_ = results(server.text("context_search", query=QUERY))
        assert (moved.first, moved.last) == (old.first + 1, old.last + 1)
        assert server.text("expand_chunk", chunk_id=old.id) == BODY
        (root / "auth.py").unlink()
        after = results(server.text("context_search", query=QUERY))
        assert "auth.py" not in {each.path for each in after}
        assert "stale" in server.text("expand_chunk", chunk_id=old.id)


def test_the_digest_of_a_session_is_the_same_for_the_same_calls(
    ccc_home: dict[str, str], root: Path
) -> None:
    def session() -> str:
        with connected(ccc_home, root) as server:
            server.text("context_search", query=QUERY, top_k=1)
            server.text("record_decision", text="Passwords are hashed in auth.", tags=["auth"])
            server.text("set_output_compression", level="max")
            queries = server.text("summarize_context", scope="queries")
            assert queries == f"CCE session digest\nqueries (1):\n- {QUERY}"
            return server.text("summarize_context")

    first = session()
    assert first == session()
    assert "files (1):\n- auth.py\nchunks (1):" in first


def test_the_status_counts_what_the_index_holds(server: Connected, root: Path) -> None:
    text = server.text("index_status")
    assert text.startswith("Index status\n")
    assert f"  store   : {root / '.cocoindex_code'}" in text
    assert re.search(r"^  files   : 3$", text, re.MULTILINE)
    assert re.search(r"^    python +: \d+$", text, re.MULTILINE)
    assert re.search(r"^  updated : 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$", text, re.MULTILINE)
    assert re.search(r"^  imports : 1 import among \d source files$", text, re.MULTILINE)
