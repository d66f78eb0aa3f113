"""Decisions are kept once, without secrets, and come back as they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import ROOT, SECONDS, let_go, write_file
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.memory.decisions import Decision, Memory, Recorded, decision_id

HASHED = "Passwords are hashed only in auth.hash_password (SHA-256 + salt); never hash inline."


def lines(root: Path) -> list[str]:
    return (root / ".cce" / "memory.jsonl").read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HASHED, "46f3ebd005279048"),
        ("store password hashes with bcrypt", "03774d8fa782583c"),
        ("\f store  password\t\r\nhashes with bcrypt\n", "03774d8fa782583c"),
        ("  hash\tthe   password\n", "b6c678d513963ddf"),
        ("RRF_K is 60", "8312d29277088a63"),
        ("Use RRF_K = 60\n\nfor  fusion", "2b28ac69f565d8e2"),
        ("你好  世界", "4ec14dba94b11ab6"),
    ],
)
def test_the_ids_are_the_contracts(text: str, expected: str) -> None:
    assert decision_id(text) == expected


def test_only_the_contracts_white_space_is_collapsed() -> None:
    assert len({decision_id(f"a{space}b") for space in " \v\u00a0\u2003"}) == 4


def test_a_decision_is_one_line_with_the_contracts_keys(tmp_path: Path) -> None:
    found = Memory(tmp_path).record(HASHED, ["security", "auth"], "auth")
    assert found == Recorded("46f3ebd005279048", HASHED, new=True)
    line, rest = lines(tmp_path)
    assert rest == ""
    entry = json.loads(line)
    assert list(entry) == ["id", "text", "tags", "area", "ts"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.pop("ts"))
    assert list(entry.values()) == ["46f3ebd005279048", HASHED, ["security", "auth"], "auth"]


def test_an_area_that_was_not_given_has_no_key(tmp_path: Path) -> None:
    Memory(tmp_path).record("x", ["ünïcode"])
    assert lines(tmp_path)[0].startswith(
        '{"id":"2d711642b726b044","text":"x","tags":["ünïcode"],"ts"'
    )


def test_the_same_decision_again_changes_nothing(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.record(HASHED)
    again = Memory(tmp_path).record(HASHED.replace(" ", "  "), ["tag"])
    assert again == Recorded("46f3ebd005279048", HASHED, new=False)
    assert [(each.text, each.tags) for each in memory.decisions()] == [(HASHED, ())]


def test_decisions_come_back_in_order_and_as_they_were(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    assert memory.decisions() == ()
    memory.record('second\nline \u2028 日本 \\ "', ["b"], "area")
    memory.record("  first  ")
    one, two = memory.decisions()
    assert one == Decision(
        decision_id(one.text), 'second\nline \u2028 日本 \\ "', ("b",), "area", one.ts
    )
    assert (two.text, two.tags, two.area) == ("first", (), None)


def test_no_secret_is_kept_in_text_tags_or_area(tmp_path: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    found = Memory(tmp_path).record(f"deploy with {secret}", [f"key-{secret}"], secret)
    masked = "deploy with [REDACTED:AWS_ACCESS_KEY]"
    assert found == Recorded(decision_id(masked), masked, new=True)
    assert secret not in "".join(lines(tmp_path))
    assert Memory(tmp_path).decisions()[0].tags == ("key-[REDACTED:AWS_ACCESS_KEY]",)


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    assert Memory(tmp_path).record("a\ud800b").text == "a?b"
    assert Memory(tmp_path).decisions()[0].text == "a?b"


def test_lines_that_are_no_decision_are_skipped(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.record("kept")
    whole = (tmp_path / ".cce" / "memory.jsonl").read_bytes()
    wrong = b'{"id":1,"text":"x"}\n{"id":"a"}\n{"id":"a","text":"x","tags":"t"}\n'
    other = b'{"id":"a","text":"x","area":null}\n'
    write_file(tmp_path / ".cce" / "memory.jsonl", b"nonsense\n" + wrong + other + whole + whole)
    assert [each.text for each in memory.decisions()] == ["x", "kept"]


RECORD = """
import sys
from pathlib import Path
from vera_ccc_tools.memory.decisions import Memory
memory = Memory(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    print(number, memory.record(f"decision {number}").new)
"""


def test_processes_that_record_the_same_at_once_keep_it_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RECORD, str(tmp_path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    let_go(processes)
    said = [
        process.communicate(timeout=SECONDS)[0].decode().split("\n")[:-1] for process in processes
    ]
    assert [len(each) for each in said] == [25] * 3
    new = sorted(line for each in said for line in each if line.endswith("True"))
    assert new == sorted(f"{number} True" for number in range(25))
    assert len(lines(tmp_path)) == 26


def test_where_nothing_can_be_kept_it_says_why(tmp_path: Path) -> None:
    write_file(tmp_path / ".cce", "a file")
    with pytest.raises(Failure, match=r"memory\.jsonl' cannot be written: ") as caught:
        Memory(tmp_path).record("x")
    assert caught.value.code == "cannot_write"
    with pytest.raises(Failure, match=r"memory\.jsonl' cannot be read: "):
        Memory(tmp_path).decisions()
