"""What the tools that serve chunks say, and which results the import graph brings in; pure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.chunks.chunk import Chunk, Outline
from vera_ccc_tools.chunks.detail import Level
from vera_ccc_tools.chunks.units import Served
from vera_ccc_tools.mcp_server import answers
from vera_ccc_tools.mcp_server.answers import Entry
from vera_ccc_tools.mcp_server.tools import related, select
from vera_ccc_tools.system import text as output


def chunk(path: str, content: str = "x = 1", line: int = 1, name: str = "") -> Chunk:
    outline = Outline(name, (content.split("\n", 1)[0],)) if name else None
    return Chunk(path, line, line + content.count("\n"), "function", "f", content, outline)


def entry(path: str, body: str, score: float = 0.5) -> Entry:
    return Entry(chunk(path), path, body, score)


def served(path: str, score: float) -> Served:
    return Served(chunk(path), score)


# --- texts ---------------------------------------------------------------------------------------


def test_ranks_are_set_to_the_right_and_scores_have_six_digits() -> None:
    entries = [entry(f"{n}.py", "body", -0.0123456789) for n in range(10)]
    text = answers.found(answers.fitting(entries), "8c74824599a7", "compact")
    lines = text.split("\n")
    assert lines[0].startswith(" 1. [-0.012346] 0.py:1-1 (function/f) #")
    assert lines[1:3] == ["body", ""]
    assert any(line.startswith("10. [") for line in lines)


@pytest.mark.parametrize(
    ("level", "said"),
    [("signature", "Bodies shown as signatures. "), ("compact", "Bodies shown compact. ")],
)
def test_what_is_shown_of_the_bodies_is_said(level: Level, said: str) -> None:
    text = answers.found(answers.fitting([entry("a.py", "body")]), "8c74824599a7", level)
    assert f"\n\n{said}expand_chunk(chunk_id" in text


def test_of_full_bodies_nothing_is_said() -> None:
    text = answers.found(answers.fitting([entry("a.py", "body")]), "8c74824599a7", "full")
    assert "\nbody\n\nquery_id: " in text


def test_nothing_found_tells_how_much_there_is() -> None:
    assert answers.nothing(7, "abc123def456") == (
        "No matching code found. The index has 7 chunk(s) — try broader or different terms.\n\n"
        "query_id: abc123def456"
    )


def test_a_cut_within_a_character_leaves_it_out() -> None:
    page = answers.fitting([entry("a", "äöüß" * 10)], 1)
    assert [each.body for each in page.entries] == ["äö"]
    assert page.note == "… (context truncated to max_tokens)"


def test_what_fits_is_not_cut() -> None:
    page = answers.fitting([entry("a", "12345678"), entry("b", "1234")], 3)
    assert [each.body for each in page.entries] == ["12345678", "1234"]
    assert page.note == ""


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(1, 30))
def test_bodies_never_exceed_the_budget_and_are_beginnings_of_the_whole(
    bodies: list[str], most: int
) -> None:
    page = answers.fitting([entry(str(n), body) for n, body in enumerate(bodies)], most)
    shown = [each.body for each in page.entries]
    assert sum(len(body.encode("utf-8", "replace")) // 4 for body in shown) <= most
    whole = [body.encode("utf-8", "replace") for body in bodies]
    pairs = zip(whole, shown, strict=False)
    assert all(all_of_it.startswith(body.encode("utf-8", "replace")) for all_of_it, body in pairs)
    assert page.note or shown == bodies


def test_an_answer_without_a_budget_is_bounded_all_the_same() -> None:
    page = answers.fitting([entry(str(n), "x" * 20_000) for n in range(10)])
    assert sum(len(each.body) for each in page.entries) <= 50 * 1024
    assert "truncated for length" in page.note
    assert "max_tokens" not in page.note


@given(st.integers(0, 900), st.integers(0, 300), st.none() | st.integers(1, 100_000))
def test_many_small_entries_and_long_paths_are_bounded_too(
    count: int, length: int, most: int | None
) -> None:
    entries = [entry("p" * length, "x = 1", -0.5) for _ in range(count)]
    page = answers.fitting([replace(each, heading="it imports:") for each in entries], most)
    for text in (answers.group("title", page), answers.found(page, "8c7", "compact")):
        assert len(text.encode()) <= output.MAX_BYTES
    assert page.note or len(page.entries) == count


def test_a_heading_stands_once_before_its_part() -> None:
    parts = [Entry(chunk("a.py"), "a.py", "one", heading="it imports:"), entry("b.py", "two")]
    text = answers.group("title", answers.fitting(parts))
    assert text.split("\n\n")[:2] == ["title", "it imports:"]
    assert text.count("it imports:") == 1


# --- widening ------------------------------------------------------------------------------------

DIRECT = [
    served(f"{n}.py", score) for n, score in enumerate([0.9, 0.5, 0.8, 0.4, 0.7, 0.6, 0.3, 0.2])
]


def test_neighbours_take_the_last_places_from_results_that_score_no_better() -> None:
    further = [served("x.py", 0.25), served("y.py", 0.35), served("z.py", 0.99)]
    assert select.widen(DIRECT, further, 8) == (*DIRECT[:6], *further[:2])


def test_a_better_direct_hit_is_never_pushed_out() -> None:
    assert select.widen(DIRECT, [served("x.py", 0.1)], 8) == tuple(DIRECT)


def test_free_places_are_filled_whatever_the_score() -> None:
    further = [served("x.py", 0.0)]
    assert select.widen(DIRECT[:3], further, 8) == (*DIRECT[:3], *further)


def test_a_few_results_are_not_widened() -> None:
    assert select.widen(DIRECT, [served("x.py", 1.0)], 3) == tuple(DIRECT[:3])


@given(
    st.lists(st.floats(-1, 1), max_size=12),
    st.lists(st.floats(-1, 1), max_size=5),
    st.integers(1, 12),
)
def test_widening_keeps_the_number_and_the_better_ones(
    direct: list[float], further: list[float], top_k: int
) -> None:
    ours = [served(f"d{n}", score) for n, score in enumerate(direct)]
    theirs = [served(f"f{n}", score) for n, score in enumerate(further)]
    widened = select.widen(ours, theirs, top_k)
    assert len(widened) <= top_k
    assert len(widened) >= min(len(ours), top_k)
    gone = [each for each in ours[:top_k] if each not in widened]
    came = [each for each in widened if each in theirs]
    assert len(came) <= top_k // 4
    assert all(any(new.score >= old.score for new in came) for old in gone)


def test_only_the_files_next_to_the_best_three_are_near() -> None:
    around = {"0.py": ["a.py", "1.py"], "2.py": ["b.py"], "3.py": ["c.py"]}
    assert select.near(DIRECT, lambda path: around.get(path, [])) == {"a.py", "b.py"}


# --- relatedness ---------------------------------------------------------------------------------


def test_what_a_chunk_names_comes_first() -> None:
    target = chunk("app.py", "def run():\n    auth.hash_password(1)", name="run")
    used = chunk("auth.py", "def hash_password(x): ...", 9, name="hash_password")
    other = chunk("auth.py", "def verify(x): ...", 1, name="verify")
    config = chunk("config.py", "A = 1", 1)
    chosen = related.choose([(config,), (other, used)], related.used_by(target), 8)
    assert chosen == (used, config, other)


def test_who_names_a_chunk_comes_first() -> None:
    target = chunk("auth.py", "def hash_password(x): ...", name="hash_password")
    user = chunk("z.py", "def pay():\n    hash_password(1)", name="pay")
    files = [(chunk("a.py", "import auth"),), (chunk("z.py", "import auth"), user)]
    assert related.choose(files, related.users_of(target), 1) == (user,)


@pytest.mark.parametrize(
    ("sizes", "most", "shares"),
    [
        ((9, 9, 0), 8, [4, 4, 0]),
        ((9, 9, 9), 8, [3, 3, 2]),
        ((1, 9, 0), 8, [1, 7, 0]),
        ((9, 1, 1), 1, [1, 0, 0]),
        ((0, 0, 2), 8, [0, 0, 2]),
    ],
)
def test_places_are_shared_and_what_one_needs_not_goes_to_the_others(
    sizes: tuple[int, ...], most: int, shares: list[int]
) -> None:
    groups = [[chunk(f"{n}.py", line=line) for line in range(size)] for n, size in enumerate(sizes)]
    shared = related.share(groups, most)
    assert [len(each) for each in shared] == shares
    assert all(group[: len(each)] == each for group, each in zip(groups, shared, strict=True))


def test_a_method_is_known_by_its_own_name_and_its_class() -> None:
    method = chunk("a.py", "def find(self): ...", name="Service.find")
    assert related.names(method) == {"Service", "find"}
