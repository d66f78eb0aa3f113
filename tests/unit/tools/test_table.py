"""The table of the four tools, and what a call of one gives back."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core_helpers import MakeExecutable, environment, fake_ccc, make_project
from helpers import ROOT
from vera_ccc_tools.system import text as output
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import arguments, table
from vera_ccc_tools.tools.answer import Answer
from vera_ccc_tools.tools.arguments import IndexArguments
from vera_ccc_tools.tools.session import Session

SHAPES = {
    "ccc_search": arguments.SearchArguments,
    "ccc_index": arguments.IndexArguments,
    "ccc_init": arguments.InitArguments,
    "ccc_doctor": arguments.DoctorArguments,
}
TOOLS = {tool.name: tool for tool in table.TOOLS}


def test_the_adapters_table_is_the_workers() -> None:
    text = (ROOT / "extension" / "tools.json").read_text(encoding="utf-8")
    assert text == json.dumps(table.listing(), indent=2, ensure_ascii=False) + "\n", (
        "run: python -m vera_ccc_tools tools > extension/tools.json"
    )


def test_there_are_four_tools() -> None:
    assert list(TOOLS) == list(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_the_schema_says_what_the_arguments_are(name: str) -> None:
    schema = TOOLS[name].schema
    expected = {field.name: field for field in fields(SHAPES[name])}
    assert list(schema["properties"]) == list(expected)
    assert schema["additionalProperties"] is False
    for argument, described in schema["properties"].items():
        assert described["description"]
        if "default" in described:
            default = expected[argument].default
            assert described["default"] == (list(default) if default == () else default)
        assert (argument in schema["required"]) == (argument == "query")


@pytest.mark.parametrize("name", SHAPES)
def test_each_guideline_names_its_tool_and_the_snippet_does_not_repeat_it(name: str) -> None:
    tool = TOOLS[name]
    assert tool.guidelines
    assert all(name in guideline for guideline in tool.guidelines)
    assert name not in tool.snippet
    assert "\n" not in tool.snippet
    assert len(tool.snippet) < 80


def test_search_tells_what_is_better_at_what() -> None:
    for word in ("rg", "fd", "read"):
        assert re.search(rf"\b{word}\b", TOOLS["ccc_search"].description)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("VERA_CCC_GITIGNORE_SYNC", "0")
    monkeypatch.setenv("PATH", "")
    return Session()


def text_of(result: dict[str, Any]) -> str:
    ((content),) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("nothing", {}, "There is no tool 'nothing'."),
        ("x" * 9999, {}, "There is no tool 'xxx"),
        ("ccc_search", None, "`query` is missing."),
        ("ccc_search", [], "The arguments are []; they have to be an object."),
        ("ccc_search", "query", "The arguments are 'query'; they have to be an object."),
        ("ccc_index", {"background": "yes"}, "`background` is 'yes'; it has to be true or false."),
        ("ccc_init", {"litellm_model": ""}, "`litellm_model` is empty."),
        ("ccc_doctor", {"verbos": True}, "There is no argument 'verbos'."),
    ],
)
def test_a_wrong_call_is_a_failure_in_one_sentence_and_a_next_step(
    session: Session, tmp_path: Path, name: str, given: object, says: str
) -> None:
    result = table.call_tool(session, name, given, Call(tmp_path))
    assert result["isError"] is True
    assert result["details"] == {"code": "invalid_argument"}
    assert text_of(result).startswith(says)
    assert len(text_of(result)) < 300


SETTINGS = "FileNotFoundError: Global settings not found: /home/u/.cocoindex_code/global.yml"


def test_what_can_be_missing_is_told_apart_each_with_its_next_step(
    session: Session, tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    def ask(directory: Path, **given: Any) -> tuple[str, str]:
        directory.mkdir(exist_ok=True)
        environ = session.environment.variables if given.pop("without_ccc", False) else with_ccc
        call = table.call_tool(
            Session(environ), "ccc_search", {**given, "rank": "ccc"}, Call(directory)
        )
        assert call["isError"] is True
        return call["details"]["code"], text_of(call)

    fake = fake_ccc(fake_executable, tmp_path, f"sys.exit({SETTINGS!r})")
    with_ccc = environment(VERA_CCC_EXECUTABLE=str(fake.path))
    told = [
        ask(tmp_path / "a"),
        ask(tmp_path / "a", query="x", without_ccc=True),
        ask(tmp_path / "a", query="x"),
        ask(make_project(tmp_path / "b", indexed=False), query="x"),
        ask(make_project(tmp_path / "c"), query="x"),
    ]
    steps = ["Say in `query`", "pipx install", "ccc_index", "Call ccc_index", "Call ccc_init with"]
    codes = ["invalid_argument", "ccc_missing", "not_initialized", "not_indexed"]
    assert [code for code, _ in told] == [*codes, "no_global_settings"]
    for (_, text), step in zip(told, steps, strict=True):
        assert step in text
    assert len({text for _, text in told}) == len(told)


def test_a_cancel_is_no_result(session: Session, tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.press()
    with pytest.raises(Cancelled):
        table.call_tool(session, "ccc_doctor", {}, Call(tmp_path, cancel))


def test_a_long_answer_is_cut_and_named(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    long = Answer("line\n" * 100_000, {"n": 1})
    tool = table.Tool("x", "X", "", "", (), IndexArguments, lambda *_: long)
    monkeypatch.setattr(table, "TOOLS", (tool,))
    result = table.call_tool(session, "x", {}, Call(tmp_path))
    assert len(text_of(result).encode()) <= output.MAX_BYTES
    assert f"saved to: {tmp_path}" in text_of(result)
    assert (result["isError"], result["details"]) == (False, {"n": 1})
