"""What to do next is said to each reader in words that this reader can act on."""

from __future__ import annotations

import re

import pytest

from vera_ccc_tools import phrases
from vera_ccc_tools.boot import invocation
from vera_ccc_tools.ccc import faults
from vera_ccc_tools.cli.verbs import VERBS
from vera_ccc_tools.errors import Do, Failure, Front, Step
from vera_ccc_tools.mcp_server.table import TOOLS as NINE
from vera_ccc_tools.tools.table import TOOLS as FOUR

COMMANDS = {"/ccc", "/ccc-search", "/ccc-index", "/ccc-init", "/ccc-doctor", "/ccc-sync"}
ALL = [(do, front) for do in Do for front in Front]


@pytest.mark.parametrize(("do", "front"), ALL)
def test_each_step_has_a_sentence_for_each_reader(do: Do, front: Front) -> None:
    said = phrases.say(Step(do, "NEEDED"), front)
    assert said
    assert not re.search(r"[{}](?!['\"])", said.replace('{"', "").replace('"}', ""))
    assert do is Do.GO_ON or (said[0] == said[0].upper() and said.endswith("."))


@pytest.mark.parametrize(("do", "front"), ALL)
def test_a_sentence_names_only_what_its_reader_can_do(do: Do, front: Front) -> None:
    said = phrases.say(Step(do, "NEEDED"), front)
    commands = re.findall(r"`(?:vera-ccc|ccc) [^`]*`", said)
    tools = set(re.findall(r"(?<!call )\b(?:ccc_\w+|context_search|index_status)", said))
    typed = set(re.findall(r"(?<![\w.])/ccc[\w-]*", said))
    if front is Front.MODEL:
        assert tools <= {tool.name for tool in FOUR}
        assert not any(command.startswith("`vera-ccc") for command in commands)
    elif front is Front.MCP:
        assert tools <= {tool.name for tool in NINE}
    else:
        assert not tools
        assert "the user" not in said
    assert typed <= (COMMANDS if front is Front.PERSON else set())
    assert front is Front.MODEL or not re.search(r"\brg\b", said)
    verbs = {verb.name for verb in VERBS}
    for command in commands:
        program, verb = command.strip("`").split()[:2]
        allowed = verbs if program == "vera-ccc" else {"init", "daemon", "reset"}
        assert verb in allowed, command


@pytest.mark.parametrize("front", [Front.MODEL, Front.PERSON])
def test_nobody_in_pi_is_sent_to_another_directory_with_a_call_that_takes_none(
    front: Front,
) -> None:
    for do in Do:
        said = phrases.say(Step(do, "NEEDED"), front)
        assert not re.search(
            r"ccc[_-](?:index|init|search|doctor)(?: \w+)? in (?:NEEDED|a |the )", said
        )


def test_no_reader_is_sent_to_an_index_run_that_asks_no_git() -> None:
    assert not any("`ccc index" in phrases.say(Step(do), front) for do, front in ALL)


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.code)
def test_a_fault_of_ccc_has_a_cause_and_a_step(fault: faults.Fault) -> None:
    failure = Failure(fault.code, fault.cause, fault.step)
    for front in Front:
        message, _, step = phrases.tell(failure, front).partition("\n")
        assert message == fault.cause
        assert step


def test_a_plain_text_is_the_same_for_all() -> None:
    assert {phrases.say("Install git.", front) for front in Front} == {"Install git."}


def test_the_command_line_is_named_as_it_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invocation, "_scripts", ["/opt/v/bootstrap.py"])
    said = phrases.say(Step(Do.DOCTOR), Front.TERMINAL)
    assert re.search(r"`python3? /opt/v/bootstrap\.py doctor`", said)
