"""The law of the sync on the ignore files that real projects start from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import ROOT
from sync_world import Oracle, git, law_breakers, settings_of, write
from vera_ccc_tools.gitignore_sync import Syncer

DATA = ROOT / "tests" / "data" / "gitignore"
NAMES = sorted(path.name for path in DATA.glob("*.gitignore"))
IN_A_BATCH = 7
DIRECTORIES = (
    "src",
    "build",
    "lib",
    "out",
    "bin",
    "target",
    "app",
    "node_modules",
    ".cache",
    "Logs",
)
FILES = ("main.py", "index.js", "App.java", "notes.md", "conf.json", "a.txt", "x.html", "y.xml")


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


def instances(lines: list[str], chance: random.Random) -> list[str]:
    """Paths that the rules speak of: each pattern with something in the place of its stars."""
    found = []
    for line in lines:
        body = line.strip().lstrip("!").strip("/")
        if not body or body.startswith("#"):
            continue
        body = re.sub(r"\[([^\]]).*?\]", r"\1", body).replace(
            "**/", chance.choice(["", "deep/er/"])
        )
        body = re.sub(r"\*+", lambda _star: chance.choice(["x", "a.b", "Zed"]), body)
        body = body.replace("?", "q").replace("\\", "").strip()
        names = body.split("/")
        if body and not {".", "..", "", ".git", ".gitignore"} & set(names):
            found.append(body)
    return found


def tree(rules: dict[str, list[str]], chance: random.Random) -> dict[str, str]:
    """Files where the rules bite and where they do not, as files and as directories."""
    made: dict[str, str] = {}
    for place, lines in rules.items():
        for path in instances(lines, chance):
            prefix = chance.choice([place, place, f"{place}{chance.choice(DIRECTORIES)}/"])
            shape = chance.choice(["{}", "{}/{}", "{}.md", "{}/sub/{}"])
            made[prefix + shape.format(path, chance.choice(FILES))] = "x\n"
        for _ in range(10):
            made[f"{place}{chance.choice(DIRECTORIES)}/{chance.choice(FILES)}"] = "x\n"
    taken = set(made)
    return {
        path: text
        for path, text in made.items()
        if not any(
            "/".join(path.split("/")[:depth]) in taken
            for depth in range(1, 9)
            if depth <= path.count("/")
        )
    }


@pytest.mark.parametrize("first", range(0, len(NAMES), IN_A_BATCH))
def test_the_law_holds_for_real_ignore_files(tmp_path: Path, oracle: Oracle, first: int) -> None:
    for name in NAMES[first : first + IN_A_BATCH]:
        chance = random.Random(name)  # the same tree on every run
        other = chance.choice(NAMES)
        texts = {"": (DATA / name).read_bytes(), "sub/": (DATA / other).read_bytes()}
        rules = {
            place: text.decode("utf-8", "replace").splitlines() for place, text in texts.items()
        }
        root = tmp_path / name
        write(root, tree(rules, chance))
        for place, text in texts.items():
            (root / place / ".gitignore").parent.mkdir(exist_ok=True)
            (root / place / ".gitignore").write_bytes(text)
        git(root, "init", "-q")
        _force_some(root, chance)
        settings_of(root, "include_patterns: ['**/*']\nexclude_patterns: []\n")
        user = oracle.settings(root)
        syncer = Syncer()
        report = syncer.sync(root)
        assert not report.warnings
        assert law_breakers(root, oracle, user) == []
        assert not syncer.sync(root).changed


def _force_some(root: Path, chance: random.Random) -> None:
    """Track a few files whatever the rules say."""
    files = [
        path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts
    ]
    chosen = chance.sample(files, min(5, len(files)))
    paths = [str(path.relative_to(root)) for path in chosen]
    git(root, "--literal-pathspecs", "add", "-f", "--", *paths)
