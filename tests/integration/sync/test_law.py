"""The law of the sync, held on generated repositories against ccc's real matcher."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

import vera_ccc_tools.sync.plan as planner
from sync_world import SETTINGS, Oracle, git, law_breakers, settings_of, write
from vera_ccc_tools.gitignore_sync import Syncer

EXAMPLES = int(os.environ.get("VERA_CCC_HYPOTHESIS_EXAMPLES", "40"))

DIRECTORIES = (
    *"a b build src lib node_modules __pycache__ [id] {x} !n #h -d q? a*b é 日本 a,b".split(),
    *("sp ace", "tab\there", "new\nline", "back\\slash", "quo'te\"", "build.js"),
)
FILES = (
    *"m.py gen.py a.py a.ts a.js b.js b.ts x_pb2.py y_pb2.py [id].js {x}.py !n.py".split(),
    *"#h.py -d.py q?.py a*b.py aXb.py é.py 日本.md a,b.py data.bin README .hidden.py".split(),
    *"UP.PY build dist __init__.py".split(),
    *("sp ace.py", "tab\t.py", "new\nline.py", "back\\slash.py", "quo'te\".py", "a]b[.py"),
)
FORMS = "{0} {0}/ /{0} /{0}/ **/{0} {0}/* {0}/** /{0}/** !{0} !{0}/ !/{0} !{0}/**".split()
GENERAL = "*.js *.py *.md !*.py *_pb2.py * !*/ /* !/src .* data.* [a-c] up.py s*/".split()
EXCLUDES = (
    "**/.*",
    "**/__pycache__",
    "**/node_modules",
    "**/build/**",
    "build",
    "*.js",
    "**/gen.py",
    "gen.py",
    "src/**",
    "**/src/*",
    "!**/build/**",
    "!build/a/**",
    "!**/m.py",
    "!node_modules/a/m.py",
    "{a,b}/**",
    "**/[abc].py",
    "lib/?.py",
)
INCLUDES = ("**/*.py", "**/*.js", "**/*.md", "*", "src/**", "**/[!m].ts", "{a,b}/**/*.bin")


@dataclass(frozen=True)
class World:
    """What a repository is built from; a path is a tuple of names."""

    files: tuple[tuple[str, ...], ...]
    forced: tuple[bool, ...]
    nested: tuple[tuple[str, ...], ...]
    rules: tuple[dict[tuple[str, ...], list[str]], ...]
    settings: str
    limits: tuple[int, int]


@dataclass(frozen=True)
class Names:
    """The few names of one world, so that namesakes are everywhere."""

    directories: list[str]
    files: list[str]

    def directory(self) -> st.SearchStrategy[tuple[str, ...]]:
        return st.lists(st.sampled_from(self.directories), max_size=3).map(tuple)

    def file(self) -> st.SearchStrategy[tuple[str, ...]]:
        pair = st.tuples(self.directory(), st.sampled_from(self.files))
        return pair.map(lambda parts: (*parts[0], parts[1]))

    def rule(self) -> st.SearchStrategy[str]:
        names = st.sampled_from([*self.directories, *self.files]).map(_as_rule)
        joined = st.builds("{}/{}".format, st.sampled_from(self.directories).map(_as_rule), names)
        named = st.builds(str.format, st.sampled_from(FORMS), names | joined)
        return named | st.sampled_from(GENERAL)

    def rules(
        self, directories: list[tuple[str, ...]]
    ) -> st.SearchStrategy[dict[tuple[str, ...], list[str]]]:
        lines = st.lists(self.rule(), min_size=1, max_size=3)
        below = st.dictionaries(st.sampled_from(directories), lines, max_size=3)
        top = st.lists(self.rule(), min_size=1, max_size=5)
        return st.builds(lambda rest, lines: {**rest, (): lines}, below, top)


def _as_rule(name: str) -> str:
    """A gitignore line that means this name; a line end in it cannot be meant, only matched."""
    escaped = "".join(f"\\{char}" if char in "\\*?[]!# " else char for char in name)
    return escaped.replace("\n", "?")


@st.composite
def _settings(draw: st.DrawFn) -> str:
    excludes = draw(
        st.none() | st.lists(st.sampled_from(EXCLUDES), min_size=1, max_size=4, unique=True)
    )
    includes = draw(
        st.none()
        | st.none()
        | st.just(["**/*"])
        | st.lists(st.sampled_from(INCLUDES), min_size=1, max_size=4, unique=True)
    )
    lines = ["# the user's own"]
    for key, patterns in (("include_patterns", includes), ("exclude_patterns", excludes)):
        if patterns is None:
            lines += draw(st.sampled_from([[], [], [f"{key}: null"]]))
        else:
            lines += [f"{key}:", *(f"  - '{pattern}'" for pattern in patterns)]
    if draw(st.integers(0, 9)) == 0 and excludes is None:
        lines = [line for line in lines if "exclude" not in line] + ["exclude_patterns: []"]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    names = Names(
        draw(st.lists(st.sampled_from(DIRECTORIES), min_size=2, max_size=4, unique=True)),
        draw(st.lists(st.sampled_from(FILES), min_size=3, max_size=6, unique=True)),
    )
    files = tuple(dict.fromkeys(draw(st.lists(names.file(), min_size=8, max_size=25))))
    forced = draw(st.lists(st.integers(0, 2), min_size=len(files), max_size=len(files)))
    places = sorted({path[:depth] for path in files for depth in range(len(path))})
    nested = draw(st.lists(st.sampled_from(places), max_size=2))
    rules = tuple(
        {**{place: [draw(names.rule())] for place in nested}, **draw(names.rules(places))}
        for _ in range(2)
    )
    limits = draw(st.tuples(st.sampled_from([500, 3, 0]), st.sampled_from([200, 0])))
    return World(
        files, tuple(one == 0 for one in forced), tuple(nested), rules, draw(_settings()), limits
    )


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


def build(root: Path, world: World) -> None:
    """Make the repository without its ignore rules."""
    made = {root}
    for path in world.files:
        place = root.joinpath(*path)
        if any(parent.is_file() for parent in place.parents) or place.is_dir():
            continue
        write(root, {"/".join(path): "x = 1\n"})
    git(root, "init", "-q")
    for path in world.nested:
        place = root.joinpath(*path)
        if place.is_dir() and place not in made:
            git(place, "init", "-q")
            made.add(place)
    _track(root, world)


def _track(root: Path, world: World) -> None:
    """Track some files, each in the innermost repository that it is in."""
    chosen: dict[Path, list[bytes]] = {}
    for path, forced in zip(world.files, world.forced, strict=True):
        place = root.joinpath(*path)
        if forced and place.is_file():
            owner = next(above for above in place.parents if (above / ".git").exists())
            chosen.setdefault(owner, []).append(os.fsencode(place.relative_to(owner)))
    for owner, paths in chosen.items():
        git(
            owner, "--literal-pathspecs", "add", "-f", "--pathspec-from-file=-",
            "--pathspec-file-nul", data=b"\0".join(paths),
        )  # fmt: skip


def rule(root: Path, rules: dict[tuple[str, ...], list[str]]) -> None:
    """Put these ignore rules in the place of those there are."""
    for old in root.rglob(".gitignore"):
        old.unlink()
    for directory, lines in rules.items():
        place = root.joinpath(*directory)
        if place.is_dir():
            (place / ".gitignore").write_bytes("".join(f"{line}\n" for line in lines).encode())


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
@given(world=worlds())
def test_the_law_holds_through_two_sets_of_rules_and_none_leaves_the_file_as_it_was(
    oracle: Oracle, world: World
) -> None:
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="law-")))
    try:
        with patch.multiple(planner, ANYWHERE_LIMIT=world.limits[0], CLASSES_LIMIT=world.limits[1]):
            _hold(root, oracle, world)
    finally:
        shutil.rmtree(root)


def _hold(root: Path, oracle: Oracle, world: World) -> None:
    build(root, world)
    path = settings_of(root, world.settings)
    user = oracle.settings(root)
    syncer = Syncer()
    entries = 0
    for rules in world.rules:
        rule(root, rules)
        report = syncer.sync(root)
        entries += len(report.added)
        assert not report.warnings
        assert law_breakers(root, oracle, user) == [], (root / SETTINGS).read_text()
        assert not syncer.sync(root).changed
        assert not Syncer().sync(root).changed
    event(f"entries: {min(entries, 5)}")
    rule(root, {})
    syncer.sync(root)
    assert path.read_bytes() == world.settings.encode()
    assert sorted(one.name for one in path.parent.iterdir() if one.suffix != ".lock") == [
        "settings.yml"
    ]
