"""What the README and the package say of the tools is what the table says."""

from __future__ import annotations

import json
import re

import pytest

from helpers import ROOT
from vera_ccc_tools.ccc import client
from vera_ccc_tools.tools.table import TOOLS

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_table_of_tools_names_each_argument_with_its_default(tool: object) -> None:
    from vera_ccc_tools.tools.table import Tool

    assert isinstance(tool, Tool)
    row = re.search(rf"^\| `{tool.name}` \| (.*?) \|", README, re.MULTILINE)
    assert row is not None
    shown = dict(re.findall(r"`(\w+)`(?: [^`(]*)?(?:\(([^)]*)\))?", row[1]))
    properties = tool.schema["properties"]
    assert list(shown) == list(properties)
    for name, described in properties.items():
        default = described.get("default", "")
        assert shown[name] == (default if isinstance(default, str) else json.dumps(default))


@pytest.mark.parametrize("command", client.DEADLINES)
def test_the_table_of_settings_names_each_deadline(command: str) -> None:
    rows = [line for line in README.splitlines() if line.startswith("| `VERA_CCC_TIMEOUT_")]
    names = [name for row in rows for name in re.findall(r"_([A-Z]+)`", row)]
    seconds = [float(each) for row in rows for each in re.findall(r"\d+", row.rsplit("|", 2)[1])]
    assert dict(zip(names, seconds, strict=True))[command.upper()] == client.DEADLINES[command]


def _said() -> str:
    """What the package and the adapter can say: their sources, pieces of a text joined."""
    files = [*(ROOT / "vera_ccc_tools").rglob("*.py"), *(ROOT / "extension").rglob("*.js")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"""["'`](?: \+)?\n\s*(?:\+ )?f?["'`]""", "", text)


def test_the_table_of_settings_names_each_variable_that_the_sources_read() -> None:
    table = README.partition("## Settings")[2].partition("\n## ")[0]
    variable = r"VERA_CCC_(?!TIMEOUT_)[A-Z_]+"  # the deadlines are tested above
    assert set(re.findall(f"`({variable})`", table)) == set(re.findall(variable, _said()))


def test_the_table_of_commands_names_each_command_of_the_extension() -> None:
    source = (ROOT / "extension" / "person" / "commands.js").read_text(encoding="utf-8")
    registered = re.findall(r'^ {6}"?([\w-]+)"?: \{ description:', source, re.MULTILINE)
    assert re.findall(r"^\| `/([\w-]+)[ `]", README, re.MULTILINE) == registered


def test_every_script_that_the_smoke_needs_is_packed() -> None:
    packed = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["files"]
    needed, seen = ["scripts/smoke.py"], set()
    while needed:
        name = needed.pop()
        seen.add(name)
        assert name in packed
        source = (ROOT / name).read_text(encoding="utf-8")
        found = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
        found += re.findall(r"\"scripts\" / \"(\w+)\.py\"", source)
        paths = [f"scripts/{each}.py" for each in found]
        needed += [each for each in paths if (ROOT / each).is_file() and each not in seen]
