"""What a person sees of a tool's result in a terminal; pure, but for what the terminal can show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vera_ccc_tools.boot import invocation
from vera_ccc_tools.cli.terminal import Terminal
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.system.text import clean, counted

MOST_LANGUAGES = 8
_FOR_A_PERSON = (
    (
        r"\bCall ccc_init with `litellm_model` \(the user's choice\), or ask the user to run ",
        """Run `vera-ccc call ccc_init '{"litellm_model": "openai/NAME"}'`, or """,
    ),
    (r"\bccc_init with `force`", """`vera-ccc call ccc_init '{"force": true}'`"""),
    (r"\bccc_init without `litellm_model`", "ccc_init"),
    (r"\bccc_doctor with `verbose`", "`vera-ccc doctor --verbose`"),
    (r"\bccc_(index|doctor|search)\b", r"`vera-ccc \1`"),
    (r"(?<!vera-ccc call )\bccc_init\b", "`vera-ccc call ccc_init`"),
    (r"\b([Tt]he ccc-status section of the next turn|ccc-status)\b", "`vera-ccc status`"),
    (r"\bCall `vera", "Run `vera"),
    (r"\bcall `vera", "run `vera"),
    (r"(?s)\b([Aa]sk the user to .*?)\b(or|and|then) to (?=\w)", r"\1\2 "),
    (r"\bAsk the user to (\w)", lambda found: found[1].upper()),
    (r"\bask the user to ", ""),
    (r"\bUse rg meanwhile, and (\w)", lambda found: found[1].upper()),
    (r" ?\bUse rg meanwhile\.", ""),
    (r"; use rg meanwhile\b", ""),
    (r"\bTell the user\. ", ""),
    (r"\bTell the user these words of ccc; its ", "Its "),
    ("`languages`", "`--lang`"),
    ("`path`", "`--path`"),
)
"""What a model is told to do, in the words of the command line."""


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search.

    Attributes:
        row: Its row in the details of ``ccc_search``.
        path: Relative to the caller's directory.
        content: Its lines.
    """

    row: Mapping[str, Any]
    path: str
    content: str

    def to_json(self) -> dict[str, Any]:
        """The row with the path and the lines."""
        return {**self.row, "path": self.path, "content": self.content}


def results(text: str, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Result], str]:
    """Take the text of ``ccc_search`` apart by its details: the results, and what follows them."""
    if not rows:
        return [], text
    # The last of such lines: a chunk may hold one itself.
    blocks, _, tail = text.rpartition("\n\n[Result")
    lines, found = blocks.split("\n"), []
    for row in rows:
        head, *content = lines[: row["lines"]]
        del lines[: row["lines"] + 1]
        found.append(Result(row, head.removesuffix(_place(row)), "\n".join(content)))
    return found, f"[Result{tail}"


def _place(row: Mapping[str, Any]) -> str:
    lines = f"{row['start_line']}-{row['end_line']}"
    return f":{lines} [{row['language']}] {row['score']:.3f}"


def search(text: str, details: Mapping[str, Any], terminal: Terminal) -> str:
    """The results of a search: where, what and how near, and the code with its line numbers."""
    found, tail = results(text, details["results"])
    blocks = ["\n".join(_result(one, terminal)) for one in found]
    seconds = details["elapsed_ms"]["total"] / 1000
    return "\n\n".join([*blocks, *_tail(tail, f"{seconds:.1f} s", terminal)])


def _result(one: Result, terminal: Terminal) -> Iterator[str]:
    first, last = one.row["start_line"], one.row["end_line"]
    where = terminal.style(one.path, "bold", "cyan") + terminal.style(f":{first}-{last}", "cyan")
    language = terminal.style(str(one.row["language"]), "green")
    yield f"{where}  {language}  {terminal.style(format(one.row['score'], '.3f'), 'yellow')}"
    digits = len(str(last))
    for number, line in enumerate(one.content.split("\n"), first):
        yield f"{terminal.style(f'{number:>{digits}}', 'dim')}  {line.expandtabs(4)}".rstrip()


def _tail(tail: str, elapsed: str, terminal: Terminal) -> Iterator[str]:
    for part in tail.split("\n\n"):
        if part.startswith("Note: "):
            yield terminal.style("Note:", "yellow") + for_a_person(part[5:])
        else:
            said = re.sub(r"go on with offset (\d+)", r"go on with --offset \1", part.strip("[]"))
            yield terminal.style(f"{for_a_person(said)} ({elapsed})", "dim")


def overview(seen: Mapping[str, Any], terminal: Terminal) -> str:
    """The index at a glance."""
    mark, colour = {"ready": ("✓", "green"), "indexing": ("●", "yellow")}.get(
        str(seen["state"]), ("✗", "red")
    )
    head = terminal.style(mark, "bold", colour)
    lines = [f"{head} {terminal.style(seen['root'] or 'No project', 'bold')}"]
    lines.append(f"  {for_a_person(seen['message'])}")
    if seen["hint"]:
        lines.append(f"  {for_a_person(seen['hint'])}")
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
    return "\n".join([head, *(f"  {for_a_person(line)}" for line in rest.split("\n") if line)])


def doctor(text: str, terminal: Terminal) -> str:
    """The checks, good and bad told apart."""
    marks = {"✓": "green", "✗": "red"}
    lines = []
    for line in text.split("\n"):
        colour = marks.get(line[:1])
        if colour:
            lines.append(terminal.style(line[0], "bold", colour) + line[1:])
        elif line.lstrip().startswith("→ "):
            lines.append(terminal.style(for_a_person(line), "yellow"))
        else:
            lines.append(for_a_person(line))
    return "\n".join(lines)


def sync(text: str, terminal: Terminal) -> str:
    """What a sync found and did, its difference as differences are coloured."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = []
    for line in text.rstrip("\n").split("\n"):
        colour = "yellow" if line.startswith("Warning: ") else colours.get(line[:1], "")
        lines.append(terminal.style(line, colour) if colour else line)
    return "\n".join(lines)


def told(error: Failure) -> Failure:
    """A failure in the words of the command line."""
    return Failure(error.code, for_a_person(error.message), for_a_person(error.hint))


def failure(error: Failure, terminal: Terminal) -> str:
    """A failure: what, and what to do about it."""
    error = told(error)
    said, hint = (clean(text) for text in (error.message, error.hint))
    message = terminal.style(said, "bold", "red")
    return f"{message}\n{hint}" if hint else message


def for_a_person(text: str) -> str:
    """What is told to a model, as it is told to a person who has no tools but a command line."""
    for told, said in _FOR_A_PERSON:
        text = re.sub(told, said, text)
    return invocation.in_place(text)
