"""What ccc prints, as typed values; nothing else of the project reads its words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.ccc import faults
from vera_ccc_tools.errors import Do, Failure, Step, shorten

_ENGINE_LOG = re.compile(
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z +(?:TRACE|DEBUG|INFO|WARN|ERROR) [\w:]+:.*\n?",
    re.MULTILINE,
)
_ANSWER = re.compile(r'\{\s*"type"\s*:\s*"search"')
# "Error" alone is the title of a box.
_CAUSE = re.compile(r"[\w.]+(?:Error|Exception|Exit)\b:?|Error:")


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that ccc found.

    Attributes:
        file_path: Relative to the project's root, with forward slashes.
        language: ccc's name of it, in lower case (``python``).
        content: The chunk's lines, verbatim.
        start_line, end_line: Counted from 1, both included.
        score: Cosine similarity to the query; 1 is the same direction.
    """

    file_path: str
    language: str
    content: str
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run is, in files."""

    listed: int
    added: int
    deleted: int
    reprocessed: int
    unchanged: int
    errors: int

    @property
    def done(self) -> int:
        return self.added + self.reprocessed + self.unchanged + self.errors


@dataclass(frozen=True, slots=True)
class SearchReply:
    """What ccc gives for a query.

    Attributes:
        hits: Best first.
        run: How the index run that was asked for ended; None where there was none, or no word.
    """

    hits: tuple[Hit, ...]
    run: Progress | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What ccc says of a project's index.

    Attributes:
        exists: Whether there is an index at all.
        files, chunks: How much it holds.
        languages: Name and number of chunks, most first.
        progress: Of the index run that is going on now, or None.
    """

    exists: bool
    files: int = 0
    chunks: int = 0
    languages: tuple[tuple[str, int], ...] = ()
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What ``ccc doctor`` printed, and its failed checks (its exit code does not say)."""

    text: str
    failed: tuple[str, ...]


def without_log(text: str) -> str:
    """*text* without the lines that ccc's engine logs among a command's own."""
    return _ENGINE_LOG.sub("", text)


def search_answer(stdout: str) -> Mapping[str, Any] | None:
    """The one line of JSON of ``ccc search``, among all else that came out with it."""
    for line in reversed(stdout.split("\n")):
        start = _ANSWER.search(line)
        if start is None:
            continue
        try:
            answer, _ = json.JSONDecoder().raw_decode(line, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(answer, dict):
            return answer
    return None


def hits(stdout: str) -> tuple[Hit, ...]:
    """The results of ``ccc search --json``.

    Raises:
        Failure: ``bad_output`` when there is no answer, or none that can be read; else what ccc
            says in its answer.
    """
    answer = search_answer(stdout)
    if answer is not None and not answer.get("success"):
        message = str(answer.get("message") or "it did not say why")
        raise failure("search", message)
    try:
        return tuple(_hit(row) for row in (answer or {})["results"])
    except (KeyError, TypeError, ValueError) as error:
        printed = f"it printed {shorten(stdout[:2000], 200)}" if stdout.strip() else "only silence"
        raise Failure(
            "bad_output",
            f"`ccc search` ended well, but gave no result that can be read; {printed}.",
            Step(Do.DOCTOR),
        ) from error


def _hit(row: Mapping[str, Any]) -> Hit:
    score = row["score"]
    return Hit(
        str(row["file_path"]),
        str(row["language"]),
        str(row["content"]),
        int(row["start_line"]),
        int(row["end_line"]),
        # JSON has no NaN, which an embedder's zero vector leads to.
        float(score) if isinstance(score, int | float) and math.isfinite(score) else 0.0,
    )


def last_progress(stderr: str) -> Progress | None:
    """How an index run ended, by the line with which it does."""
    lines = re.findall(r"^Indexing: (.+)$", stderr, re.MULTILINE)
    return _progress(lines[-1]) if lines else None


def _progress(text: str) -> Progress | None:
    numbers = re.search(
        r"(\d+) files listed \| (\d+) added, (\d+) deleted, (\d+) reprocessed,"
        r" (\d+) unchanged, error: (\d+)",
        text,
    )
    return Progress(*map(int, numbers.groups())) if numbers else None


def status(text: str) -> Status:
    """The index by the words of ``ccc status`` or ``ccc index``."""
    chunks = re.search(r"^ *Chunks: *(\d+)", text, re.MULTILINE)
    files = re.search(r"^ *Files: *(\d+)", text, re.MULTILINE)
    languages = re.findall(r"^ {4}(\S.*): (\d+) chunks$", text, re.MULTILINE)
    running = re.search(r"^Indexing in progress: .*$", text, re.MULTILINE)
    return Status(
        exists=chunks is not None,
        files=int(files[1]) if files else 0,
        chunks=int(chunks[1]) if chunks else 0,
        languages=tuple((name, int(count)) for name, count in languages),
        progress=_progress(running[0]) if running else None,
    )


def diagnosis(stdout: str, stderr: str) -> Diagnosis:
    """The report of ``ccc doctor``, without the names of the daemon's variables."""
    kept = [line for line in stdout.split("\n") if "Other env vars in daemon:" not in line]
    failed = re.findall(r"^\s*\[(?:FAIL|ERROR)\] (.+)$", stdout, re.MULTILINE)
    errors = re.findall(r"^\s*ERROR: (.+)$", stderr, re.MULTILINE)
    text = "\n".join(kept).strip("\n")
    if stderr.strip():
        text = f"{text}\n\n  Errors\n{stderr.rstrip()}"
    return Diagnosis(text, tuple(dict.fromkeys(errors or failed)))


def failure(command: str, said: str) -> Failure:
    """Why a command failed, by what it said: a known fault, else its last cause."""
    known = faults.recognise(said)
    if known is not None:
        return known
    cause = last_cause(said) or "it did not say why"
    return Failure("ccc_failed", f"`ccc {command}` failed: {cause}", Step(Do.DOCTOR))


def last_cause(text: str) -> str:
    """The real cause in what a failing ccc printed: the last line that is no decoration.

    A boxed or plain traceback ends with it, and ccc appends the daemon's own traceback to it.
    """
    lines = [line.strip(" │╭╮╰╯─") for line in text.split("\n")]
    causes = [line for line in lines if _CAUSE.match(line)]
    told = causes or [line for line in lines if line]
    return _cut(told[-1]) if told else ""


def _cut(line: str, limit: int = 500) -> str:
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
