"""The skill is in the form of the Agent Skills specification, and names only what there is."""

from __future__ import annotations

import json
import re
import shlex

from ruamel.yaml import YAML

from helpers import ROOT
from vera_ccc_tools.cli import main
from vera_ccc_tools.cli.verbs import VERBS
from vera_ccc_tools.tools.arguments import SearchArguments, schema

DIRECTORY = ROOT / "skills" / "ccc-search"
_, FRONT, TEXT = (DIRECTORY / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
TOOLS = json.loads((ROOT / "extension" / "tools.json").read_text(encoding="utf-8"))["tools"]
ARGUMENTS = {name for tool in TOOLS for name in tool["inputSchema"]["properties"]}


def test_the_front_matter_is_what_the_specification_asks_for() -> None:
    fields = YAML(typ="safe").load(FRONT)
    assert set(fields) == {"name", "description", "license"}
    assert fields["name"] == DIRECTORY.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert len(fields["name"]) <= 64
    assert 0 < len(fields["description"]) <= 1024
    assert "Use before" in fields["description"]


def test_it_is_short() -> None:
    assert TEXT.count("\n") < 80


def test_the_tools_and_arguments_that_it_names_are_there() -> None:
    assert set(re.findall(r"\bccc_\w+", TEXT)) <= {tool["name"] for tool in TOOLS}
    named = set(re.findall(r"`([a-z_]+)(?:: [^`]*)?`", TEXT))
    assert {"path", "languages", "offset", "limit", "rank", "background"} <= named & ARGUMENTS
    programs, words = {"rg", "fd", "read"}, {"src", "ts"}
    fields = {"path", "start_line", "end_line", "score", "content"}
    assert named - programs - words - fields - {tool["name"] for tool in TOOLS} <= ARGUMENTS


def test_the_command_lines_that_it_shows_can_be_typed() -> None:
    shown = re.findall(r"^\$ vera-ccc ([^#\n]*)", TEXT, re.MULTILINE)
    assert len(shown) == 5
    for line in shown:
        name, *arguments = shlex.split(line)
        options = main.parse(next(verb for verb in VERBS if verb.name == name), arguments)
        assert (
            getattr(options, "limit", 1)
            <= schema(SearchArguments)["properties"]["limit"]["maximum"]
        )


def test_the_package_holds_it_and_pi_is_told() -> None:
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert package["pi"]["skills"] == ["./skills"]
    assert "skills/" in package["files"]
