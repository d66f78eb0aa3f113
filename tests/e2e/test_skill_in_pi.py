"""The real Pi finds the skill of this package, and gives it to the model when it is asked for."""

from __future__ import annotations

from pathlib import Path

from e2e.model_stub import ModelStub
from e2e.pi import Pi
from helpers import ROOT

SKILL = ROOT / "skills" / "ccc-search" / "SKILL.md"


def test_the_model_is_told_of_the_skill_and_where_to_read_it(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    done = pi.print("hello", project)
    assert done.returncode == 0, done.stderr
    (request,) = model.requests
    assert "<name>ccc-search</name>" in request.system
    assert f"<location>{SKILL}</location>" in request.system
    assert "How to find code by meaning with ccc_search" in request.system


def test_a_person_can_hand_it_over(pi: Pi, model: ModelStub, project: Path) -> None:
    done = pi.print("/skill:ccc-search where are uploads retried", project)
    assert done.returncode == 0, done.stderr
    said = str(model.requests[0].body["messages"])
    assert "# Search code by meaning" in said
    assert "where are uploads retried" in said
