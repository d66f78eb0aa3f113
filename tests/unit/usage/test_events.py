"""The log of searches and feedback has the contract's form and never stands in a search's way."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import write_file
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.usage import events
from vera_ccc_tools.usage.events import Metrics, SearchEvent

EVENT = SearchEvent(
    id="8c74824599a7",
    query="where is the password hashed",
    top_k=8,
    graph_enabled=True,
    embedder="ccc",
    scores=(0.864806, 0.5),
    baseline_tokens=1000,
    full_tokens=300,
    served_tokens=120,
    grammar_tokens=7,
    latency_ms=12.34567,
)
KEYS = (
    "schema event ts id query top_k graph_enabled embedder result_count baseline_tokens"
    " served_tokens tokens_saved savings_ratio savings top_score mean_score empty low_confidence"
    " latency_ms source"
).split()
BUCKETS = (
    "retrieval chunk_compression grammar output memory turn_summarization progressive_disclosure"
).split()


def lines(root: Path) -> list[str]:
    return (root / ".cce" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()


def logged(root: Path, event: SearchEvent) -> dict[str, object]:
    Metrics(root).search(event)
    entry: dict[str, object] = json.loads(lines(root)[-1])
    return entry


def test_a_search_is_one_line_with_the_contracts_keys_in_order(tmp_path: Path) -> None:
    entry = logged(tmp_path, EVENT)
    assert list(entry) == KEYS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(entry.pop("ts")))
    savings = entry.pop("savings")
    assert isinstance(savings, dict)
    assert list(savings) == BUCKETS
    assert list(savings.values()) == [700, 180, 7, 0, 0, 0, 0]
    assert entry == {
        "schema": "cce.metrics/v1",
        "event": "search",
        "id": "8c74824599a7",
        "query": "where is the password hashed",
        "top_k": 8,
        "graph_enabled": True,
        "embedder": "ccc",
        "result_count": 2,
        "baseline_tokens": 1000,
        "served_tokens": 120,
        "tokens_saved": 880,
        "savings_ratio": 0.88,
        "top_score": 0.864806,
        "mean_score": 0.682403,
        "empty": False,
        "low_confidence": False,
        "latency_ms": 12.346,
        "source": "mcp",
    }


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((), (True, False, 0.0)),
        ((0.299999,), (False, True, 0.299999)),
        ((0.1, 0.30), (False, False, 0.3)),
        ((-math.inf,), (False, False, 0.0)),
    ],
)
def test_confidence_is_low_where_the_best_of_some_is_below_0_30(
    tmp_path: Path, scores: tuple[float, ...], told: tuple[bool, bool, float]
) -> None:
    entry = logged(tmp_path, replace(EVENT, scores=scores))
    assert (entry["empty"], entry["low_confidence"], entry["top_score"]) == told


def test_nothing_is_saved_where_more_was_served_than_the_files_hold(tmp_path: Path) -> None:
    entry = logged(tmp_path, replace(EVENT, baseline_tokens=50, full_tokens=60, served_tokens=70))
    assert (entry["tokens_saved"], entry["savings_ratio"]) == (0, 0.0)
    assert entry["savings"] == dict.fromkeys(BUCKETS, 0) | {"grammar": 7}
    assert logged(tmp_path, replace(EVENT, baseline_tokens=0))["savings_ratio"] == 0.0


def test_feedback_is_one_line_with_the_contracts_keys_in_order(tmp_path: Path) -> None:
    Metrics(tmp_path).feedback("8c74824599a7", helpful=True, note="the token = hunter2hunter2 one")
    Metrics(tmp_path).feedback("8c74824599a7", helpful=False)
    first, second = map(json.loads, lines(tmp_path))
    assert list(first) == "schema event ts id target_id helpful note".split()
    assert first["note"] == "the token = [REDACTED:SECRET] one"
    assert (first["event"], first["target_id"]) == ("feedback", "8c74824599a7")
    assert (second["helpful"], second["note"]) == (False, None)
    assert re.fullmatch("[0-9a-f]{12}", first["id"])
    assert first["id"] != second["id"]


def test_a_secret_in_a_query_is_not_kept(tmp_path: Path) -> None:
    entry = logged(tmp_path, replace(EVENT, query="who uses password=hunter2hunter2"))
    assert entry["query"] == "who uses password=[REDACTED:SECRET]"


def test_ids_are_twelve_hexadecimal_digits_and_no_two_are_equal() -> None:
    ids = {events.new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in ids)


def test_a_reader_skips_and_counts_broken_lines_and_leaves_other_schemas(tmp_path: Path) -> None:
    Metrics(tmp_path).search(EVENT)
    path = tmp_path / ".cce" / "metrics.jsonl"
    whole = path.read_bytes()
    write_file(path, b'\n[1]\n{"schema":"cce.metrics/v2"}\nnot json\n\xff\n' + whole + whole[:40])
    Metrics(tmp_path).search(replace(EVENT, id="ffffffffffff"))
    held = Metrics(tmp_path).read()
    assert [entry["id"] for entry in held.entries] == ["8c74824599a7", "ffffffffffff"]
    assert held.broken == 4


def test_an_id_is_known_in_its_session_though_nothing_can_be_logged(tmp_path: Path) -> None:
    (tmp_path / ".cce" / "metrics.jsonl").mkdir(parents=True)
    log = Metrics(tmp_path)
    log.search(EVENT)
    assert log.knows(EVENT.id)


def test_an_id_is_known_to_the_next_session_while_it_stands_at_the_end_of_the_log(
    tmp_path: Path,
) -> None:
    Metrics(tmp_path).search(EVENT)
    log = Metrics(tmp_path)
    log.feedback("ffffffffffff", helpful=True)
    assert log.knows(EVENT.id)
    assert not log.knows("ffffffffffff")
    log.search(replace(EVENT, id="a" * 12, query="x" * events.TAIL))
    assert not log.knows(EVENT.id)


def test_a_search_goes_on_where_nothing_can_be_logged_and_feedback_says_so(tmp_path: Path) -> None:
    write_file(tmp_path / ".cce", "a file")
    Metrics(tmp_path).search(EVENT)
    assert (tmp_path / ".cce").read_text(encoding="utf-8") == "a file"
    with pytest.raises(Failure, match="cannot be written"):
        Metrics(tmp_path).feedback("8c74824599a7", helpful=True)
