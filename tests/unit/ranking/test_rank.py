from __future__ import annotations

import binascii
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import ROOT
from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.ranking import rank
from vera_ccc_tools.system import process
from vera_ccc_tools.system import text as output

DATA = ROOT / "tests" / "data" / "ranking"
LANGUAGES = {"go": "go", "rb": "ruby", "rs": "rust", "js": "javascript", "php": "php",
             "java": "java", "py": "python", "md": "markdown"}  # fmt: skip
LINES, OVERLAP = 12, 2


def chunks(path: str, text: str) -> Iterator[Hit]:
    lines = text.rstrip("\n").split("\n")
    for first in range(0, max(1, len(lines) - OVERLAP), LINES - OVERLAP):
        part = lines[first : first + LINES]
        language = LANGUAGES[path.rsplit(".", 1)[1]]
        yield Hit(path, language, "\n".join(part), first + 1, first + len(part), 0.0)


def shuffled(hits: list[Hit], salt: str) -> list[Hit]:
    """*hits* in an order that tells nothing, always the same one, with scores that fall evenly."""
    mixed = sorted(hits, key=lambda hit: binascii.crc32(f"{salt}{hit.content}".encode()))
    return [
        Hit(hit.file_path, hit.language, hit.content, hit.start_line, hit.end_line, 0.9 - at / 1000)
        for at, hit in enumerate(mixed)
    ]


@pytest.fixture(scope="module")
def polyglot() -> list[Hit]:
    """The chunks of small files in eight languages."""
    files = (DATA / "corpus.txt").read_text(encoding="utf-8").split("=== ")[1:]
    return [hit for file in files for hit in chunks(*file.split("\n", 1))]


@pytest.fixture(scope="module")
def own_code() -> list[Hit]:
    """A hundred chunks of this project's own code."""
    modules = (output, process, rank)
    paths = [Path(module.__file__ or "") for module in modules]
    texts = [
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths
    ]
    return [hit for path, text in texts for hit in chunks(path, text)][: rank.CANDIDATES]


def best(query: str, hits: list[Hit]) -> list[Hit]:
    return list(rank.rank(query, hits))


SALTS = ("a", "b", "c")


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("HttpRouter", "web/router.go", "type HttpRouter struct {"),
        ("NewHttpRouter", "web/router.go", "func NewHttpRouter() *HttpRouter {"),
        ("Lookup", "web/router.go", "func (router *HttpRouter) Lookup("),
        ("Stack::Builder", "web/builder.rb", "  class Builder"),
        ("web::Router", "web/mod.rs", "pub struct Router<S = ()> {"),
        ("Router::merge", "web/mod.rs", "pub fn merge("),
        ("response.sendFile", "web/response.js", "response.sendFile = function"),
        ("SessionStore", "web/SessionStore.php", "final class SessionStore"),
        ("App\\Web\\SessionStore", "web/SessionStore.php", "final class SessionStore"),
        ("readSession", "web/SessionStore.php", "public function readSession("),
        ("RetryPolicy", "web/RetryPolicy.java", "public final class RetryPolicy {"),
        ("delayBefore", "web/RetryPolicy.java", "public Duration delayBefore("),
        ("parse_args", "web/cli.py", "def parse_args("),
        ("parse_args()", "web/cli.py", "def parse_args("),
        ("RateLimiter", "web/rate_limit.py", "class RateLimiter:"),
        ("where is delayBefore computed", "web/RetryPolicy.java", "public Duration delayBefore("),
    ],
)
def test_a_name_finds_its_definition_first(
    polyglot: list[Hit], query: str, path: str, line: str, salt: str
) -> None:
    first = best(query, shuffled(polyglot, salt))[0]
    assert first.file_path == path
    assert line in first.content


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("clean_line", "vera_ccc_tools/system/text.py", "def clean_line("),
        ("Weights", "vera_ccc_tools/ranking/rank.py", "class Weights:"),
        ("ranking.rank", "vera_ccc_tools/ranking/rank.py", "def rank("),
        ("CANDIDATES", "vera_ccc_tools/ranking/rank.py", "CANDIDATES = 100"),
    ],
)
def test_a_name_of_this_project_finds_its_definition_first(
    own_code: list[Hit], query: str, path: str, line: str, salt: str
) -> None:
    first = best(query, shuffled(own_code, salt))[0]
    assert first.file_path == path
    assert line in first.content


LIMITER = """\
tokens = min(self.requests, tokens + (now - last) * self.requests / 60)
self.buckets[client] = (tokens - 1 if tokens >= 1 else tokens, now)
"""
LIMITER_TEST = """\
    limiter = RateLimiter(requests=2)
    assert [limiter.allow("a") for _ in range(3)] == [True, True, False]"""
SESSION = "return is_file($file) ? unserialize(file_get_contents($file)) : [];"
MIDDLEWARE = """
\t@middleware.reverse.reduce(innermost) do |app, (middleware, arguments)|
\t\tmiddleware.new(app, *arguments)"""
PREFIXES = """\
for _, prefix := range router.prefixes {
    if strings.HasPrefix(path, prefix) && len(prefix) > len(best) {"""


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize(
    ("snippet", "path"),
    [
        (LIMITER, "web/rate_limit.py"),
        (LIMITER_TEST, "web/tests/test_rate_limit.py"),
        (SESSION, "web/SessionStore.php"),
        ("Thread.sleep(policy.delayBefore(attempt));", "web/Client.java"),
        (MIDDLEWARE, "web/builder.rb"),
        (PREFIXES, "web/router.go"),
    ],
)
def test_a_pasted_snippet_finds_its_origin_first(
    polyglot: list[Hit], snippet: str, path: str, salt: str
) -> None:
    assert best(snippet, shuffled(polyglot, salt))[0].file_path == path


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("throttling by a bucket of tokens", "web/rate_limit.py"),
        ("tests for throttling of clients", "web/tests/test_rate_limit.py"),
        ("where is the router tested", "web/router_test.go"),
        ("documentation on throttling", "docs/throttling.md"),
        ("installation guide", "docs/installation.md"),
        ("example of a server that throttles", "examples/throttled_server.py"),
    ],
)
def test_the_kind_of_file_is_the_one_that_was_asked_for(
    polyglot: list[Hit], query: str, path: str, salt: str
) -> None:
    assert best(query, shuffled(polyglot, salt))[0].file_path == path


@pytest.mark.parametrize(
    "query",
    [
        "Begrenzung gleichzeitiger Anfragen",
        "压缩响应",
        "ヘルプ",
        "zxqwv",
        "",
        " \n ",
        "?!",
        "the of",
    ],
)
def test_words_that_the_code_does_not_have_leave_the_order_of_ordinary_files(
    polyglot: list[Hit], query: str
) -> None:
    code = [hit for hit in polyglot if hit.file_path.endswith((".go", ".rs"))]
    one_each = list({hit.file_path: hit for hit in reversed(code)}.values())
    ordinary = [hit for hit in shuffled(one_each, "x") if "_test" not in hit.file_path]
    assert best(query, ordinary) == ordinary


# --- laws ----------------------------------------------------------------------------------------

texts = st.text(st.sampled_from("abAB_ :.(){}=;\n1é漢"), max_size=60)
queries = texts | st.sampled_from(
    ["HttpRouter", "parse_args", "Rack::Builder", "tests for the router", "def a():\n  return b"]
)
paths = st.sampled_from(
    [
        "a.py",
        "b/c.go",
        "b/c_test.go",
        "docs/d.md",
        "e/__init__.py",
        "vendor/f.js",
        "é/漢.rs",
        "Makefile",
    ]
)
hits = st.builds(
    Hit, paths, st.sampled_from(["python", "go"]), texts,
    st.integers(1, 50), st.integers(50, 99), st.floats(-1, 1),
)  # fmt: skip
candidates = st.lists(hits, max_size=25)


@given(queries, candidates)
def test_ranking_loses_nothing_and_makes_nothing_up(query: str, given_hits: list[Hit]) -> None:
    ranked = rank.rank(query, given_hits)
    assert sorted(map(id, ranked)) == sorted(map(id, given_hits))


@given(queries, candidates)
def test_the_same_candidates_get_the_same_order(query: str, given_hits: list[Hit]) -> None:
    assert rank.rank(query, given_hits) == rank.rank(query, tuple(given_hits))


@given(queries, hits, st.integers(1, 8))
def test_candidates_that_differ_in_nothing_but_their_score_keep_their_order(
    query: str, hit: Hit, count: int
) -> None:
    alike = [
        Hit(hit.file_path, hit.language, hit.content, hit.start_line, hit.end_line, 1 - at / 100)
        for at in range(count)
    ]
    assert list(rank.rank(query, alike)) == alike


ORDER = """
import json, sys
from vera_ccc_tools.ranking import rank as ranking
from vera_ccc_tools.ccc.client import Hit

hits = [Hit(*row) for row in json.load(sys.stdin)]
for query in ("HttpRouter", "throttling of clients", "parse_args and the comand line"):
    print([(hit.file_path, hit.start_line) for hit in ranking.rank(query, hits)])
"""


def test_the_order_does_not_depend_on_how_a_process_hashes_strings(polyglot: list[Hit]) -> None:
    rows = json.dumps([astuple(hit) for hit in shuffled(polyglot, "h")])
    orders = {
        subprocess.run(
            [sys.executable, "-c", ORDER],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=ROOT,
            input=rows,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(orders) == 1
    assert "web/router.go" in orders.pop()


def test_no_candidates_give_no_order() -> None:
    assert rank.rank("anything", []) == ()
