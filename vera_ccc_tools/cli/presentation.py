"""What a person sees of a tool's result in a terminal; pure, but for what the terminal can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.cli.terminal import Terminal
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import say
from vera_ccc_tools.system.text import clean, counted

MOST_LANGUAGES = 8
_OPTIONS = {"`languages`": "`--lang`", "`path`": "`--path`"}
"""The arguments of a search that are options here."""


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search.

    Attributes:
        row: Its row in the details of ``ccc_search``.
        content: Its lines.
    """

    row: Mapping[str, Any]
    content: str

    def to_json(self) -> dict[str, Any]:
        """The row with the lines."""
        return {**self.row, "content": self.content}


def results(text: str, details: Mapping[str, Any]) -> tuple[list[Result], str]:
    """Take the text of ``ccc_search`` apart by its details: the results, and what follows them."""
    lines, found = text.split("\n")[details["lead"] :], []
    for row in details["results"]:
        content = lines[1 : row["lines"]]
        del lines[: row["lines"] + 1]
        found.append(Result(row, "\n".join(content)))
    return found, "\n".join(lines)


def search(text: str, details: Mapping[str, Any], terminal: Terminal) -> str:
    """The results of a search: where, what and how near, and the code with its line numbers."""
    found, tail = results(text, details)
    lead = [terminal.style(line, "yellow") for line in text.split("\n")[: details["lead"]] if line]
    blocks = ["\n".join(_result(one, terminal)) for one in found]
    seconds = details["elapsed_ms"]["total"] / 1000
    return "\n\n".join([*lead, *blocks, *_tail(tail, f"{seconds:.1f} s", terminal)])


def _result(one: Result, terminal: Terminal) -> Iterator[str]:
    first, last = one.row["start_line"], one.row["end_line"]
    where = terminal.style(one.row["path"], "bold", "cyan") + terminal.style(
        f":{first}-{last}", "cyan"
    )
    language = terminal.style(str(one.row["language"]), "green")
    score = f"{one.row['score']:.3f}" if "score" in one.row else "by words"
    yield f"{where}  {language}  {terminal.style(score, 'yellow')}"
    digits = len(str(last))
    for number, line in enumerate(one.content.split("\n"), first):
        yield f"{terminal.style(f'{number:>{digits}}', 'dim')}  {line.expandtabs(4)}".rstrip()


def _tail(tail: str, elapsed: str, terminal: Terminal) -> Iterator[str]:
    first, *notes = tail.split("\n\n")
    yield terminal.style(f"{_options(first.strip('[]'))} ({elapsed})", "dim")
    for note in notes:
        yield terminal.style("Note:", "yellow") + note.removeprefix("Note:")


def overview(seen: Mapping[str, Any], terminal: Terminal) -> str:
    """The index at a glance."""
    mark, colour = {"ready": ("✓", "green"), "indexing": ("●", "yellow")}.get(
        str(seen["state"]), ("✗", "red")
    )
    head = terminal.style(mark, "bold", colour)
    lines = [f"{head} {terminal.style(seen['root'] or 'No project', 'bold')}"]
    lines.append(f"  {seen['message']}")
    if seen["hint"]:
        lines.append(f"  {seen['hint']}")
    if seen["languages"]:
        lines.append(f"  {terminal.style(_languages(seen['languages']), 'dim')}")
    progress = seen["progress"]
    if progress:
        done = counted(progress["done"], "file")
        lines.append(f"  {terminal.style(f'An index run goes on: {done} done.', 'yellow')}")
    return "\n".join(lines)


def _languages(chunks: Mapping[str, int]) -> str:
    named = [f"{name} {count:,}" for name, count in chunks.items()]
    more = len(named) - MOST_LANGUAGES
    return (
        "Chunks: " + ", ".join(named[:MOST_LANGUAGES]) + (f" and {more} more" if more > 0 else "")
    )


def indexed(text: str, terminal: Terminal) -> str:
    """The end of an index run."""
    first, _, rest = text.partition("\n")
    head = f"{terminal.style('✓', 'bold', 'green')} {terminal.style(first, 'bold')}"
    return "\n".join([head, *(f"  {line}" for line in rest.split("\n") if line)])


def doctor(text: str, terminal: Terminal) -> str:
    """The checks, good and bad marked."""
    marks = {"✓": "green", "✗": "red"}
    lines = []
    for line in text.split("\n"):
        colour = marks.get(line[:1])
        if colour:
            lines.append(terminal.style(line[0], "bold", colour) + line[1:])
        elif line.lstrip().startswith("→ "):
            lines.append(terminal.style(line, "yellow"))
        else:
            lines.append(line)
    return "\n".join(lines)


def sync(text: str, terminal: Terminal) -> str:
    """What a sync found and did, its difference as differences are coloured."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = []
    for line in text.rstrip("\n").split("\n"):
        colour = "yellow" if line.startswith("Warning: ") else colours.get(line[:1], "")
        lines.append(terminal.style(line, colour) if colour else line)
    return "\n".join(lines)


def said(error: Failure) -> tuple[str, str]:
    """What failed, and what to do about it, as a person types it."""
    return clean(_options(error.message)), clean(_options(say(error.step, Front.TERMINAL)))


def failure(error: Failure, terminal: Terminal) -> str:
    """A failure: what, and what to do about it."""
    text, step = said(error)
    message = terminal.style(text, "bold", "red")
    return f"{message}\n{step}" if step else message


def _options(text: str) -> str:
    for argument, option in _OPTIONS.items():
        text = text.replace(argument, option)
    return text
