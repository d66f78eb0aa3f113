"""What a sync tells programs and people."""

from __future__ import annotations

import json
import os

from vera_ccc_tools.sync.report import ENTRIES_SHOWN, Reason, Report

REPORT = Report(
    added=("**/out/**",),
    kept=2,
    left_out=(*((f"d{n}.bin", "no use") for n in range(30)), (os.fsdecode(b"\xff"), "odd")),
    warnings=("git is slow.",),
    tracked_ignored=("build/kept.py",),
    changed=True,
    written=True,
    elapsed_ms={"git": 1.5},
)


def test_the_json_names_everything_and_bounds_what_was_left_out() -> None:
    found = json.loads(json.dumps(REPORT.to_json()))
    assert found["added"] == ["**/out/**"]
    assert (found["removed"], found["kept"], found["written"]) == ([], 2, True)
    assert [one["count"] for one in found["left_out"]] == [30, 1]
    assert len(found["left_out"][0]["paths"]) == 20
    assert found["left_out"][1]["paths"] == ["\\xff"]
    assert found["tracked_ignored"] == {"count": 1, "paths": ["build/kept.py"]}
    assert found["warnings"] == ["git is slow."]
    assert found["elapsed_ms"] == {"git": 1.5}


def test_the_text_for_people_counts_warns_and_names() -> None:
    text = REPORT.render()
    assert text.startswith("exclude_patterns written: 1 added, 0 removed, 2 kept.\n")
    assert "30 ignored paths need no entry: no use." in text
    assert "Warning: git is slow." in text
    assert "1 tracked file that ccc ignores all the same: build/kept.py" in text


def test_a_report_of_nothing_is_one_line() -> None:
    assert Report(kept=3).render() == "exclude_patterns unchanged: 0 added, 0 removed, 3 kept.\n"


def test_the_rules_are_named_where_they_are_known_and_the_first_ones_only() -> None:
    reasons = (
        Reason("**/out/**", "out/", ".gitignore", 2, "out/"),
        Reason("**/x", "x"),
        *(Reason(f"d{number}/**", f"d{number}/", ".gitignore", 3, "d*") for number in range(998)),
    )
    report = Report(kept=1005, entries=("e",) * 1005, reasons=reasons)
    lines = report.render().splitlines()
    assert lines[1:4] == [
        "Each entry, and the ignore rule behind it:",
        "  **/out/**  .gitignore:2: out/",
        "  **/x  (git does not say by which rule)",
    ]
    assert len(lines) == 3 + ENTRIES_SHOWN
    assert lines[-1] == f"  and {1005 - ENTRIES_SHOWN} more; --json names them"
    entries = report.to_json()["entries"]
    assert (entries["count"], len(entries["reasons"])) == (1005, 1000)
    assert entries["reasons"][1]["source"] is None
    assert Report().to_json()["entries"] is None
