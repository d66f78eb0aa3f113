"""The verb init on real directories: what it writes, refuses, and takes out again."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import MakeRepository
from core_helpers import make_project
from helpers import run_git, write_file
from init_helpers import snapshot, vera
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.setup import guidance, init, launch
from vera_ccc_tools.setup.agents import AGENTS, Agent

every_agent = pytest.mark.parametrize("agent", AGENTS)


@pytest.fixture(autouse=True)
def _started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the server's start for granted: it is another test's."""
    monkeypatch.setattr(launch, "check", lambda _launch, _directory: None)


def entry_of(root: Path, agent: Agent) -> dict[str, object]:
    text = (root / agent.config).read_text("utf-8")
    said = tomllib.loads(text) if agent.form == "toml" else json.loads(text)
    entry: dict[str, object] = said[agent.servers]["cce"]
    return entry


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "file", "directory", "more"),
    [
        ("claude", "CLAUDE.md", ".", {}),
        ("cursor", "AGENTS.md", "${workspaceFolder}", {}),
        ("vscode", "AGENTS.md", "${workspaceFolder}", {"type": "stdio"}),
        ("codex", "AGENTS.md", "", {}),
        ("pi", "AGENTS.md", ".", {"exposure": "direct"}),
    ],
)
def test_each_agent_gets_its_entry_its_instructions_and_an_ignore_rule(
    git_repo: MakeRepository, agent: str, file: str, directory: str, more: dict[str, str]
) -> None:
    root = git_repo({"a.py": "a = 1\n"})
    report = init.set_up(root, agent)
    entry = entry_of(root, AGENTS[agent])
    start = launch.find()
    line = [*start.args, "mcp", "--dir", directory or str(root)]
    assert entry == {"command": start.command, "args": line, **more}
    text = (root / file).read_text("utf-8")
    assert text.startswith(f"{guidance.BEGIN}\n## Code Context Engine (CCE)\n")
    assert "### Output compression\n\nAnswer in the fewest words" in text
    assert (root / ".gitignore").read_text() == f"{init.IGNORED}\n"
    assert init.IGNORED.endswith("\n.cce/*")
    assert [change.action for change in report.changes] == ["created"] * 3
    assert set(snapshot(root)) == {"a.py", AGENTS[agent].config, file, ".gitignore"}
    assert not (root / ".cocoindex_code").exists()  # nothing was indexed


@every_agent
def test_a_second_run_changes_no_byte_and_writes_nothing(
    git_repo: MakeRepository, agent: str
) -> None:
    root = git_repo({"CLAUDE.md": "# Ours\r\n", "AGENTS.md": "x", ".gitignore": "a\r\nb"})
    init.set_up(root, agent)
    before = {path: path.stat() for path in root.rglob("*") if ".git" not in path.parts}
    report = init.set_up(root, agent)
    assert {change.action for change in report.changes} == {"unchanged"}
    after = {path: path.stat() for path in root.rglob("*") if ".git" not in path.parts}
    assert {path: (s.st_ino, s.st_mtime_ns) for path, s in after.items()} == {
        path: (s.st_ino, s.st_mtime_ns) for path, s in before.items()
    }


def test_an_entry_of_a_moved_checkout_is_updated(tmp_path: Path) -> None:
    old = {"command": "python", "args": ["C:\\old\\vera_ccc_tools\\bootstrap.py", "mcp"]}
    write_file(tmp_path / ".mcp.json", json.dumps({"mcpServers": {"cce": {**old, "env": {}}}}))
    report = init.set_up(tmp_path, "claude")
    start = launch.find()
    entry = {"command": start.command, "args": [*start.args, "mcp", "--dir", "."], "env": {}}
    assert entry_of(tmp_path, AGENTS["claude"]) == entry
    assert [(change.path, change.action) for change in report.changes] == [
        (".mcp.json", "updated"),
        ("CLAUDE.md", "created"),
    ]


def test_an_older_block_is_brought_up_to_date_where_it_stands(tmp_path: Path) -> None:
    text = f"# A\r\n\r\n{guidance.BEGIN}\r\nold\r\n{guidance.END}\r\n\r\n# B"
    write_file(tmp_path / "CLAUDE.md", text)
    init.set_up(tmp_path, "claude")
    now = (tmp_path / "CLAUDE.md").read_bytes().decode()
    assert now.startswith(f"# A\r\n\r\n{guidance.BEGIN}\r\n## Code")
    assert now.endswith(f"{guidance.END}\r\n\r\n# B")
    assert now.count("\n") == now.count("\r\n")


def test_the_next_step_names_the_index_only_where_there_is_none(tmp_path: Path) -> None:
    assert "index --cwd" in init.set_up(tmp_path, "claude", "off").next[-1]
    make_project(tmp_path)
    assert init.set_up(tmp_path, "claude", "off").next == (AGENTS["claude"].next,)


def test_how_terse_the_agent_answers_can_be_chosen_and_is_said_with_the_way_out(
    tmp_path: Path,
) -> None:
    said = init.set_up(tmp_path, "claude").next[1]
    assert "(`standard`)" in said
    assert said.endswith(f"init --agent claude --dir {tmp_path} --terse off")
    assert "Output compression" in (tmp_path / "CLAUDE.md").read_text("utf-8")
    init.set_up(tmp_path, "claude", "off")
    assert "Output compression" not in (tmp_path / "CLAUDE.md").read_text("utf-8")


def test_below_the_root_of_a_repository_it_is_told_where_agents_look(
    git_repo: MakeRepository,
) -> None:
    root = git_repo({"lib/a.py": ""}).resolve()
    told, *others = init.set_up(root / "lib", "codex").next
    assert f"{root / 'lib'} lies in the repository {root};" in told
    assert "init --agent codex --dir" in told
    assert others[0] == AGENTS["codex"].next
    assert (root / "lib" / ".codex" / "config.toml").is_file()
    assert init.set_up(root, "codex").next[0] == AGENTS["codex"].next


@pytest.mark.parametrize(
    ("there", "used"),
    [
        (["CLAUDE.md"], "CLAUDE.md"),
        (["CLAUDE.md", "AGENTS.md"], "AGENTS.md"),
        (["AGENTS.md", "AGENTS.override.md"], "AGENTS.override.md"),
    ],
)
def test_no_new_file_hides_the_instructions_that_pi_reads(
    tmp_path: Path, there: list[str], used: str
) -> None:
    for name in there:
        write_file(tmp_path / name, "# Mine\n")
    init.set_up(tmp_path, "pi")
    for name in there:
        assert (guidance.BEGIN in (tmp_path / name).read_text()) == (name == used)
    assert {path.name for path in tmp_path.iterdir()} == {*there, ".pi"}


# --- git's rule ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [".cce/*", ".cce", "*.jsonl", "/.cce/"])
def test_no_rule_is_added_where_git_ignores_the_files_already(
    git_repo: MakeRepository, rule: str
) -> None:
    root = git_repo({".gitignore": rule, "sub/a.py": ""})
    init.set_up(root, "claude")
    assert (root / ".gitignore").read_text() == rule
    init.take_out(root, "claude")
    assert (root / ".gitignore").read_text() == rule
    if "/" not in rule:
        init.set_up(root / "sub", "claude")
        assert not (root / "sub" / ".gitignore").exists()


def test_a_rule_in_the_users_own_excludes_is_enough(git_repo: MakeRepository) -> None:
    root = git_repo()
    write_file(root / ".git" / "info" / "exclude", ".cce/\n")
    init.set_up(root, "claude")
    assert not (root / ".gitignore").exists()


def test_there_is_no_rule_without_a_repository_or_without_git(
    tmp_path: Path, git_repo: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    init.set_up(tmp_path, "claude")
    assert not (tmp_path / ".gitignore").exists()
    root = git_repo()
    monkeypatch.setenv("PATH", "")
    init.set_up(root, "claude")
    assert not (root / ".gitignore").exists()


def test_an_ignore_file_in_any_encoding_keeps_its_bytes_and_gets_the_rule_once(
    git_repo: MakeRepository,
) -> None:
    prior = b"b\xfccher/\r\n!.cce/*\r\nc"
    root = git_repo({"a": ""})
    write_file(root / ".gitignore", prior)
    init.set_up(root, "claude")
    write_file(root / ".gitignore", (root / ".gitignore").read_bytes() + b"\r\n!.cce/*")
    init.set_up(root, "claude")
    comment, line = init.IGNORED.encode().split(b"\n")
    assert (root / ".gitignore").read_bytes() == b"\r\n".join([prior, comment, line, b"!.cce/*"])
    init.take_out(root, "claude")
    assert (root / ".gitignore").read_bytes() == prior + b"\r\n!.cce/*"


# --- back to the byte ---------------------------------------------------------------------------

TEXTS = st.sampled_from(
    ["", "\n", "# A", "# A\n", "# A\r\n\r\nb", "\ufeffa\n\n\n", "a\rb\r", "ü\n`"]
)
BOM = "\ufeff".encode()
SERVERS = {
    "json": ["{}", "{ }\r\n", '{"NAME": {}}', '{\n  "NAME": {}\n}\n', '{\n  "NAME": {\n  }\n}',
             '{"a": 1,"NAME":{"x":{"command":"y"}}}', '\ufeff{\n\t"NAME": {\n\t\t"x": {}\n\t}\n}\n',
             '{\r\n  "b": 1\r\n}'],
    "toml": ["", "a = 1", "a = 1\r\n[NAME.x]\r\n", "[NAME]\n\n# end\n", "\ufeffa = 1\n\n"],
}  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    run_git(root, "init", "-q")
    return root


@every_agent
@settings(max_examples=30)
@given(data=st.data())
def test_everything_is_as_before_when_init_is_undone(
    repository: Path, agent: str, data: st.DataObject
) -> None:
    form = AGENTS[agent].form
    config = data.draw(st.none() | st.sampled_from(SERVERS[form]))
    name = AGENTS[agent].servers
    priors: dict[str, str | None] = {
        AGENTS[agent].config: None if config is None else config.replace("NAME", name),
        "CLAUDE.md": data.draw(st.none() | TEXTS),
        "AGENTS.md": data.draw(st.none() | TEXTS),
        ".gitignore": data.draw(st.none() | TEXTS),
    }
    for path in snapshot(repository):
        (repository / path).unlink()
    for path, text in priors.items():
        if text is not None:
            write_file(repository / path, text)
    before = snapshot(repository)
    init.set_up(repository, agent)
    assert snapshot(repository) != before
    init.take_out(repository, agent)
    after, config_file = snapshot(repository), AGENTS[agent].config
    if form == "json":  # its content comes back; an empty object may go
        left = (files.pop(config_file, b"{}").removeprefix(BOM) for files in (before, after))
        assert {name: {}, **json.loads(next(left))} == {name: {}, **json.loads(next(left))}
    assert after == before


def test_directories_that_were_made_go_and_others_stay(tmp_path: Path) -> None:
    init.set_up(tmp_path, "cursor")
    write_file(tmp_path / ".cursor" / "rules.md", "x")
    init.take_out(tmp_path, "cursor")
    assert snapshot(tmp_path) == {".cursor/rules.md": b"x"}
    init.set_up(tmp_path, "vscode")
    init.take_out(tmp_path, "vscode")
    assert not (tmp_path / ".vscode").exists()


def test_what_another_agent_needs_stays_until_the_last_one_goes(git_repo: MakeRepository) -> None:
    root = git_repo({"CLAUDE.md": "# Mine\n"})
    before = snapshot(root)
    for agent in AGENTS:
        init.set_up(root, agent)
    init.take_out(root, "cursor")
    init.take_out(root, "codex")
    init.take_out(root, "claude")
    assert guidance.BEGIN in (root / "AGENTS.md").read_text()
    assert guidance.BEGIN not in (root / "CLAUDE.md").read_text()
    init.take_out(root, "pi")
    assert (root / ".gitignore").exists()
    init.take_out(root, "vscode")
    assert snapshot(root) == before


def test_the_configuration_of_another_agent_that_cannot_be_read_counts_as_set_up(
    git_repo: MakeRepository,
) -> None:
    root = git_repo()
    init.set_up(root, "codex")
    write_file(root / ".cursor" / "mcp.json", "{")
    init.take_out(root, "codex")
    assert set(snapshot(root)) == {".cursor/mcp.json", "AGENTS.md", ".gitignore"}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_what_another_engine_of_that_name_needs_stays(git_repo: MakeRepository, agent: str) -> None:
    block = f"{guidance.BEGIN}\ntheirs\n{guidance.END}\n"
    server = '{"mcpServers": {"cce": {"command": "cce", "args": ["mcp"]}}}'
    files = {".mcp.json": server, ".cursor/mcp.json": server, "CLAUDE.md": block}
    root = git_repo({**files, "AGENTS.md": block, ".gitignore": f"{init.IGNORED}\n"})
    before = snapshot(root)
    report = init.take_out(root, agent)
    assert not any(change.differs for change in report.changes)
    assert snapshot(root) == before


def test_undoing_where_nothing_was_done_says_so_and_changes_nothing(tmp_path: Path) -> None:
    write_file(tmp_path / "CLAUDE.md", "# Mine\n")
    report = init.take_out(tmp_path, "claude")
    assert report.render() == "Nothing of ours is here."
    assert snapshot(tmp_path) == {"CLAUDE.md": b"# Mine\n"}


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content", "code"),
    [
        (".mcp.json", b"{", "config_refused"),
        (".mcp.json", b"[1]", "config_refused"),
        (".mcp.json", b'{"mcpServers": []}', "config_refused"),
        (".mcp.json", b"\xff\xfe{\0}\0", "not_utf8"),
        ("CLAUDE.md", b"caf\xe9\n", "not_utf8"),
        ("CLAUDE.md", guidance.BEGIN.encode(), "markers_broken"),
    ],
)
@pytest.mark.parametrize("act", [init.set_up, init.take_out])
def test_a_file_that_is_refused_leaves_all_of_them_as_they_were(
    git_repo: MakeRepository, act: object, path: str, content: bytes, code: str
) -> None:
    root = git_repo({".mcp.json": "{}", "CLAUDE.md": "# Mine\n"})
    if act is init.take_out:
        init.set_up(root, "claude")
    write_file(root / path, content)
    before = snapshot(root)
    assert callable(act)
    with pytest.raises(Failure) as caught:
        act(root, "claude")
    assert caught.value.code == code
    assert caught.value.message.startswith(path)
    assert caught.value.step
    assert snapshot(root) == before


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").mkdir()
    with pytest.raises(Failure, match=r"CLAUDE\.md cannot be read"):
        init.set_up(tmp_path, "claude")
    assert snapshot(tmp_path) == {}


def test_a_file_in_the_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    write_file(tmp_path / ".cursor", "x")
    with pytest.raises(Failure, match=r"\.cursor/mcp\.json cannot be read"):
        init.set_up(tmp_path, "cursor")
    assert snapshot(tmp_path) == {".cursor": b"x"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such a name cannot be made")
def test_a_path_that_no_configuration_can_name_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "caf\udce9"
    root.mkdir()
    with pytest.raises(Failure, match="is not UTF-8, so no configuration can name it"):
        init.set_up(root, "codex")
    assert snapshot(root) == {}
    init.set_up(root, "claude")
    done = vera("init", "--remove", "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    assert snapshot(root) == {}


def test_the_home_directory_is_no_project(isolated_user: Path) -> None:
    with pytest.raises(Failure, match="is your home directory") as caught:
        init.set_up(isolated_user.resolve(), "cursor")
    assert caught.value.code == "home_directory"
    assert not (isolated_user / ".cursor").exists()
