"""The README's table of what goes wrong, and what each reader is told of it."""

from __future__ import annotations

from pathlib import Path

import what_goes_wrong

from helpers import ROOT

TABLE = (ROOT / "README.md").read_text("utf-8").partition("## What goes wrong")[2]
ROWS = [line.split(" | ") for line in TABLE.partition("\n## ")[0].splitlines() if line[:2] == "| "]
OTHERS = (
    # Notes of an answer, the adapter's own failure, and what is said before anything runs.
    "The ignore rules could not be brought up to date",
    "… could not be indexed",
    "The ccc worker has died … times within a minute",
    "The verb mcp needs what this Python does not have",
    "Python 3.11 or newer is needed",
)


def test_each_row_is_the_message_of_a_failure(tmp_path: Path) -> None:
    messages = [failure.message for failure in what_goes_wrong.failures(tmp_path).values()]
    rows = [row[0].removeprefix("| ") for row in ROWS[1:]]
    assert set(OTHERS) <= set(rows)
    for seen in set(rows) - set(OTHERS):
        words = [each.strip() for each in seen.split("…")]
        assert any(all(each in message for each in words) for message in messages), seen
    assert len(messages) == len(rows) - len(OTHERS)


def test_the_page_of_what_each_reader_is_told_is_up_to_date() -> None:
    assert what_goes_wrong.PAGE.read_text("utf-8") == what_goes_wrong.page()
