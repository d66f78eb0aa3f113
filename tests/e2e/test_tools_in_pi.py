"""The four tools and the status section in the real Pi, with the real worker and the real ccc."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from e2e.model_stub import ModelStub, use, use_together
from e2e.pi import Pi
from helpers import POSIX, ROOT

TOOLS = {"ccc_search", "ccc_index", "ccc_init", "ccc_doctor"}


def test_the_tools_called_one_after_another_answer_rightly(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    model.say(
        [
            use("ccc_init"),
            use("ccc_index"),
            use("ccc_search", query="retry a failed upload", limit=1),
            use("ccc_search", query="rotate the vault credential", limit=100),
            use("ccc_doctor"),
        ]
    )
    done = pi.print("find it", project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")
    init, index, found, ignored, doctor = model.requests[-1].tool_results
    assert str(project) in init
    assert "2" in index
    assert found.startswith("src/upload.py:1-2 [python] ")
    assert "def retry_upload(file):" in found
    assert "mix_colours" not in found
    assert "src/colour.py" in ignored
    assert "secrets/" not in ignored
    assert "rotate_token" not in ignored
    assert "✗" not in doctor


def test_the_model_is_shown_four_tools_and_the_status_last(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    with pi.rpc(project) as session:
        session.prompt("hello")  # on a busy machine its status may come too late
        session.prompt("hello")
    request = model.requests[1]
    assert set(request.tools) >= TOOLS
    assert request.tools["ccc_search"]["parameters"]["required"] == ["query"]
    assert "ccc_index" in request.status
    assert request.system.count("<ccc-status>") == 1
    assert "- ccc_search: Search code by meaning" in request.system
    assert "- Use ccc_search first for questions such as" in request.system


def test_two_prompts_in_a_row_carry_the_same_bytes(pi: Pi, model: ModelStub, project: Path) -> None:
    with pi.rpc(project) as session:
        session.prompt("hello")
        session.prompt("and now?")
        session.prompt("and now?")
    _, first, second = model.requests
    assert "ccc_index" in first.status
    assert first.status == second.status
    assert first.system == second.system


def test_the_turns_after_an_index_run_show_that_it_is_ready(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    model.say(["Hello.", use("ccc_index"), "Indexed."])
    with pi.rpc(project) as session:
        session.prompt("hello")
        session.prompt("index it")
        for _ in range(20):  # a turn that comes too soon shows what was known before
            session.prompt("and now?")
            if "ready" in model.requests[-1].status:
                break
        session.prompt("and now?")
    assert "not set up" in model.requests[1].status
    assert "ready" in model.requests[-2].status
    assert model.requests[-2].status == model.requests[-1].status


def test_without_an_index_a_search_is_by_words_and_says_so(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    model.say([use("ccc_search", query="upload")])
    with pi.rpc(project) as session:
        session.request("prompt", message="find it")
        assert session.event("tool_execution_end")["isError"] is False
        session.event("agent_end")
    lead, _, head = model.requests[1].tool_result.split("\n")[:3]
    assert lead.startswith("By words, not by meaning: ")
    assert "Call ccc_index" in lead
    assert head.startswith("src/upload.py:")


def test_a_failure_reaches_the_model_as_a_failure(pi: Pi, model: ModelStub, project: Path) -> None:
    model.say([use("ccc_search", query="upload", rank="ccc")])
    with pi.rpc(project) as session:
        session.request("prompt", message="find it")
        assert session.event("tool_execution_end")["isError"] is True
        session.event("agent_end")
    assert "ccc_index" in model.requests[1].tool_result


def test_calls_in_one_message_each_get_their_own_answer(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    both = use_together(
        ("ccc_search", {"query": "mix paint colours", "limit": 1}),
        ("ccc_search", {"query": "retry a failed upload", "limit": 1}),
    )
    model.say([use("ccc_index"), both])
    pi.print("find both", project)
    colours, upload = model.requests[-1].tool_results[1:]
    assert colours.startswith("src/colour.py:")
    assert upload.startswith("src/upload.py:")


def test_a_session_below_the_root_searches_the_whole_project(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    below = project / "docs"
    below.mkdir()
    model.say([use("ccc_index"), use("ccc_search", query="retry a failed upload", limit=1)])
    pi.print("find it", below)
    assert model.requests[-1].tool_result.startswith("../src/upload.py:1-2 ")


def test_the_agent_directory_of_a_clone_loads_the_tools(
    pi: Pi, model: ModelStub, project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    for name in ("agent/settings.json", "package.json", "pyproject.toml"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    for name in ("extension", "vera_ccc_tools"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    moved = Pi(pi.version, pi.command, clone / "agent", model, pi.env)
    moved.configure_model()
    model.say([use("ccc_doctor")])
    assert moved.print("check", project).returncode == 0
    assert set(model.requests[0].tools) >= TOOLS
    assert "ccc" in model.requests[1].tool_result
    assert moved.processes() == []


@pytest.mark.parametrize("pi_version", ["1.6.0"], indirect=True)
def test_the_status_stands_last_after_a_prompt_that_another_extension_has_forced(
    pi: Pi, model: ModelStub, project: Path, tmp_path: Path
) -> None:
    forcing = tmp_path / "forcing.js"
    forcing.write_text(
        'export default (pi) => pi.on("before_agent_start", () => ({ systemPrompt: "Be brief." }));'
    )
    pi.configure(ROOT, forcing)
    with pi.rpc(project) as session:
        session.prompt("hello")
        session.prompt("hello")
    assert model.requests[1].system.startswith("Be brief.")
    assert "ccc_index" in model.requests[1].status


@pytest.mark.skipif(not POSIX, reason="the terminal is a pseudo-terminal")
def test_the_terminal_shows_a_call_as_a_line_and_its_results_as_a_line_each(
    pi: Pi, model: ModelStub, project: Path
) -> None:
    search = use("ccc_search", query="retry a failed upload", path="src", limit=1)
    model.say([use("ccc_index"), search, "That is all."])
    shown = pi.show("find it", project, "That is all.")
    assert 'ccc_search "retry a failed upload" in src' in shown
    assert "1 result" in shown
    assert "src/upload.py:1-2  python 0." in shown
