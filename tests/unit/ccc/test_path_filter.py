"""The `path` of a search: what it means, and the SQLite GLOB that covers it."""

from __future__ import annotations

import posixpath
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from helpers import POSIX, run_git, write_file
from vera_ccc_tools.ccc import path_filter
from vera_ccc_tools.errors import InvalidArgument

FILES = (
    "top.py",
    "top.ts",
    "sub/one.py",
    "sub/two.ts",
    "sub/deep/three.py",
    "sub/alpha/four.py",
    "sub/beta.py",
    "subway/five.py",
    "app/[id]/page.tsx",
    "app/[id].py",
    "app/i/page.tsx",
    "{x,y}/six.py",
    "with space/seven.py",
    "日本/八.py",
    "build.py/nine.txt",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the `FILES`."""
    top = tmp_path_factory.mktemp("project")
    for name in FILES:
        write_file(top / name, "x")
    return top.resolve()


@pytest.fixture(scope="module")
def glob() -> Iterator[sqlite3.Connection]:
    """An SQLite, whose ``GLOB`` is the one that ccc uses."""
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


def covers(connection: sqlite3.Connection, cover: str, name: str) -> bool:
    return bool(connection.execute("SELECT ? GLOB ?", (name, cover)).fetchone()[0])


def found(connection: sqlite3.Connection, wanted: path_filter.PathFilter | None) -> set[str]:
    """The `FILES` that a search with the filter *wanted* gives."""
    if wanted is None:
        return set(FILES)
    matches = wanted.matches or (lambda _name: True)
    return {each for each in FILES if covers(connection, wanted.cover, each) and matches(each)}


SUB = {each for each in FILES if each.startswith("sub/")}
PYTHON = {each for each in FILES if each.endswith(".py")} | {"build.py/nine.txt"}


@pytest.mark.parametrize(
    ("cwd", "text", "names"),
    [
        ("", "sub", SUB),
        ("", "sub/", SUB),
        ("", "./sub/", SUB),
        ("", "@sub", SUB),
        ("", "@./sub", SUB),
        ("", " sub ", SUB),
        ("", "sub/.", SUB),
        ("", "sub/../sub", SUB),
        ("", "sub/**", SUB),
        ("", "sub/*", SUB),
        ("", "sub/**/*.py", SUB - {"sub/two.ts"}),
        ("", "sub/*.py", {"sub/one.py", "sub/beta.py"}),
        ("", "sub/{a,b}*", {"sub/alpha/four.py", "sub/beta.py"}),
        ("", "sub/{a,b}*.py", {"sub/beta.py"}),
        ("", "{sub,subway}", SUB | {"subway/five.py"}),
        ("", "{subway,missing}", {"subway/five.py"}),
        ("", "sub/one.py", {"sub/one.py"}),
        ("", "*.py", PYTHON),
        ("", "**/*.py", PYTHON),
        ("", "./*.py", PYTHON),
        ("", "*.{ts,tsx}", {"top.ts", "sub/two.ts", "app/[id]/page.tsx", "app/i/page.tsx"}),
        ("", "s?b", SUB),
        ("", "[a-s]ub", SUB),
        ("", "[!a-s]op.py", {"top.py"}),
        ("", "app/[id].py", {"app/[id].py"}),
        ("", "app/[id]", {"app/[id]/page.tsx"}),
        ("", "app/[id]/*.tsx", {"app/[id]/page.tsx"}),
        ("", "app/[i]/*.tsx", {"app/i/page.tsx"}),
        ("", "{x,y}", {"{x,y}/six.py"}),
        ("", "with space", {"with space/seven.py"}),
        ("", "with space/*.py", {"with space/seven.py"}),
        ("", "日本", {"日本/八.py"}),
        ("", "**/八.*", {"日本/八.py"}),
        ("", ".", set(FILES)),
        ("", "./", set(FILES)),
        ("", "**", set(FILES)),
        ("", "build.py", {"build.py/nine.txt"}),
        ("sub", "deep", {"sub/deep/three.py"}),
        ("sub", "*.py", SUB - {"sub/two.ts"}),
        ("sub", ".", SUB),
        ("sub", "..", set(FILES)),
        ("sub", "../subway", {"subway/five.py"}),
        ("sub", "../*.ts", {"top.ts"}),
        ("sub/deep", "../{alpha,deep}/*.py", {"sub/deep/three.py", "sub/alpha/four.py"}),
        ("app/[id]", "*.tsx", {"app/[id]/page.tsx"}),
        ("app/[id]", "../i", {"app/i/page.tsx"}),
        ("app/[id]", "../*/page.tsx", {"app/[id]/page.tsx", "app/i/page.tsx"}),
        ("{x,y}", "*.py", {"{x,y}/six.py"}),
        ("with space", "*.py", {"with space/seven.py"}),
    ],
)
def test_a_path_finds_what_it_says(
    root: Path, glob: sqlite3.Connection, cwd: str, text: str, names: set[str]
) -> None:
    assert found(glob, path_filter.parse(text, root / cwd, root)) == names


def test_an_absolute_path_inside_the_project_is_taken(root: Path, glob: sqlite3.Connection) -> None:
    for text in (f"{root}/sub", f"@{root}/sub/", f"{root}/sub/**"):
        assert found(glob, path_filter.parse(text, root / "app", root)) == SUB
    assert path_filter.parse(str(root), root, root) is None
    wanted = path_filter.parse(f"{root}/app/[id]/*", root, root)
    assert found(glob, wanted) == {"app/[id]/page.tsx"}


@pytest.mark.skipif(not POSIX, reason="links need a right of their own on Windows")
def test_an_absolute_path_by_way_of_a_link_is_taken(
    root: Path, glob: sqlite3.Connection, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(root)
    for text in ("sub", "sub/**", "sub/{alpha,beta,deep,one,two}*"):
        assert found(glob, path_filter.parse(f"{tmp_path}/link/{text}", root, root)) == SUB


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("missing", "names no file or directory"),
        ("{missing,gone}", "names no file or directory"),
        ("..", "outside the project"),
        ("../other/*.py", "outside the project"),
        ("/", "outside the project"),
        ("/etc", "outside the project"),
        ("", "is empty"),
        (" ", "is empty"),
        ("@", "is empty"),
        ("a\0b", "is empty, or holds what no path can hold"),
        ("a\ud800b", "is empty, or holds what no path can hold"),
        ("x" * 5000, "5,000 characters"),
        ("x" * 300, "names no file or directory"),
        ("{1..1000}", "200 alternatives"),
        ("{a,b}" * 20, "200 alternatives"),
        ("{" * 3900, "200 alternatives"),
        ("*a" * 20, "8 wildcards"),
        ("[z-a]x", "is no glob"),
        ("sub/[ab*.py", "`[` without its `]`"),
        ("{sub,[a}/*.py", "`[` without its `]`"),
    ],
)
def test_a_path_that_cannot_be_used_is_named_with_what_is_allowed(
    root: Path, text: str, says: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        path_filter.parse(text, root, root)
    assert says in caught.value.message
    assert len(str(caught.value)) < 500
    assert caught.value.step


def test_outside_is_said_of_a_sibling_whose_name_begins_alike(root: Path) -> None:
    with pytest.raises(InvalidArgument):
        path_filter.parse(f"{root}-other", root, root)


SEGMENT = st.text(alphabet="ab.*?[]!-é {},\\#", min_size=1, max_size=6)
PATTERN = st.lists(st.one_of(SEGMENT, st.just("**"), st.just("sub")), min_size=1, max_size=4).map(
    "/".join
)
NAME = st.lists(st.text(alphabet="ab.é []{},-s", min_size=1, max_size=5), min_size=1, max_size=4)


@given(pattern=PATTERN, name=NAME.map("/".join), cwd=st.sampled_from(["", "sub", "app/[id]"]))
@example(pattern="*a ", name="ba ", cwd="")
@example(pattern="**", name="sub/a", cwd="sub")
def test_the_cover_matches_whatever_the_exact_filter_takes(
    root: Path, glob: sqlite3.Connection, pattern: str, name: str, cwd: str
) -> None:
    try:
        wanted = path_filter.parse(pattern, root / cwd, root)
    except InvalidArgument:
        return
    if wanted is None or wanted.matches is None:
        return
    for each in (name, f"sub/{name}", f"app/[id]/{name}"):
        if wanted.matches(each):
            assert covers(glob, wanted.cover, each)


PLAIN = st.text(alphabet="ab*?.", min_size=1, max_size=5).filter(lambda each: set(each) != {"."})


def _in_git_and_here_alike(pattern: str) -> bool:
    """Leave out what other readers of .gitignore read otherwise than git: ``***`` and the like."""
    return not re.search(r"\*\*[^/]|[^/]\*\*", pattern) and posixpath.normpath(pattern) == pattern


@given(
    pattern=st.lists(st.one_of(PLAIN, st.just("**")), min_size=1, max_size=3)
    .map("/".join)
    .filter(_in_git_and_here_alike)
    .filter(lambda pattern: re.search(r"[*?]", pattern) is not None),
    names=st.lists(
        st.lists(st.sampled_from(["a", "b", "ab", "a.b", "ba"]), min_size=1, max_size=3),
        min_size=1,
        max_size=8,
    ),
)
def test_a_glob_means_what_it_means_in_a_gitignore(
    matcher: Path, pattern: str, names: list[list[str]]
) -> None:
    listed = sorted({"/".join(name) for name in names})
    (matcher / ".git" / "info" / "exclude").write_text(f"{pattern}\n", encoding="utf-8")
    answer = subprocess.run(
        ["git", "-c", "core.ignorecase=false", "check-ignore", "--no-index", "-vn", *listed],
        cwd=matcher,
        capture_output=True,
        timeout=60,
        check=False,  # it ends with 1 when nothing is ignored
    )
    ignored = [not line.startswith(b"::") for line in answer.stdout.splitlines()]
    wanted = path_filter.parse(pattern, matcher, matcher)
    assert wanted is not None
    assert wanted.matches is not None
    assert [wanted.matches(name) for name in listed] == ignored


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without files, in which git is asked what a pattern matches."""
    top = tmp_path_factory.mktemp("matcher").resolve()
    run_git(top, "init", "-q")
    (top / ".git" / "info").mkdir(exist_ok=True)
    return top


def test_the_exact_filter_is_none_only_where_the_cover_is_exact(root: Path) -> None:
    for text in ("sub", "app/[id].py", "with space"):
        wanted = path_filter.parse(text, root, root)
        assert wanted is not None
        assert wanted.matches is None
