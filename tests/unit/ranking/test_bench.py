from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import answers, candidates
from benchmarks.candidates import Asked, Question
from helpers import ROOT, write_file
from vera_ccc_tools.ccc.client import Hit

DATA = ROOT / "tests" / "data"


def asked(paths: str, *relevant: str) -> Asked:
    hits = tuple(Hit(f"{path}.py", "python", "x" * 100, 1, 1, 0.5) for path in paths)
    return Asked(Question("?", tuple(f"{path}.py" for path in relevant), "meaning"), hits, (1, 1))


def measured(*questions: Asked) -> answers.Figures:
    return answers.measure(questions, answers.of_ccc)


@pytest.mark.parametrize(
    ("question", "gain"),
    [
        (asked("abc", "a"), 1.0),
        (asked("abc", "b"), 0.6309),
        (asked("aaab", "b"), 0.4307),
        (asked("bbab", "b"), 1.0),
        (asked("abc", "d"), 0.0),
        (asked("ab", "a", "b"), 1.0),
        (asked("acb", "a", "b"), 0.9197),
        (asked("cccccccccca", "a"), 0.0),
    ],
)
def test_a_file_counts_at_the_place_of_its_first_result(question: Asked, gain: float) -> None:
    assert measured(question).gain == pytest.approx(gain, abs=1e-4)


def test_a_file_is_found_when_it_is_among_the_first_five() -> None:
    assert measured(asked("abcde", "e"), asked("abcdef", "f")).found == 0.5


def test_tokens_are_counted_up_to_the_right_file_and_of_ten_results_without_one() -> None:
    one = measured(asked("a", "a")).tokens
    assert measured(asked("cba", "a")).tokens == 3 * one
    assert measured(asked("bcdefghijklm", "a")).tokens == 10 * one


def test_the_figures_of_several_questions_are_their_mean() -> None:
    assert measured(asked("ab", "a"), asked("ab", "c")).gain == 0.5


def test_leaving_a_signal_out_is_measured_for_each() -> None:
    names = [name.split()[0] for name, _ in answers.ablations()]
    assert names[:2] == ["words", "path"]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["answers.json", "answers_more.json"])
def test_the_questions_can_be_read(name: str, tmp_path: Path) -> None:
    table = json.loads((DATA / name).read_text(encoding="utf-8"))
    for repository, entry in table.items():
        for row in entry["questions"]:
            if "snippet" in row:
                path, lines = row["snippet"].rsplit(":", 1)
                write_file(tmp_path / repository / path, "line\n" * int(lines.split("-")[1]))
    repositories: Sequence[candidates.Repository] = candidates.read_questions(DATA / name, tmp_path)
    assert [each.name for each in repositories] == list(table)
    assert all(question.text and question.relevant for each in repositories
               for question in each.questions)  # fmt: skip
