"""The verbs: what goes to which stream, and with which exit code."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core_helpers import (
    MakeExecutable,
    answer,
    environment,
    fake_ccc,
    make_project,
    row,
    vera,
)
from helpers import POSIX, ROOT, write_file
from vera_ccc_tools import __version__
from vera_ccc_tools.cli import main
from vera_ccc_tools.cli.verbs import VERBS
from vera_ccc_tools.tools import table


def test_the_version_is_printed() -> None:
    assert vera("--version").stdout.decode().strip() == __version__


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name a verb."),
        (("serch",), "There is no verb 'serch'. Did you mean `search`?"),
        (("Index",), "There is no verb 'Index'. Did you mean `index`?"),
        (("xyz",), "There is no verb 'xyz'.\n"),
        (("--x", "search"), "There is no option '--x' before the verb."),
        (("search",), "the following arguments are required: QUERY"),
        (("search", " "), "QUERY is empty: say what the code does."),
        (("search", "x", "--limit", "500"), "--limit: '500' is no whole number from 1 to 100"),
        (("search", "x", "--offset", "-1"), "--offset: '-1' is no whole number from 0 to 100,000"),
        (("search", "x", "--rank", "good"), "--rank: invalid choice: 'good'"),
        (("search", "x", "--limit", "5", "y", "--what"), "unrecognized arguments: y --what"),
        (("index", "here"), "unrecognized arguments: here"),
        (("call",), "the following arguments are required: TOOL"),
        (("sync", "--dry"), "unrecognized arguments: --dry"),
    ],
)
def test_a_wrong_usage_ends_with_2_and_a_next_step(arguments: tuple[str, ...], says: str) -> None:
    done = vera(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    said = done.stderr.decode()
    assert said.startswith("usage: vera-ccc ")
    assert says in said
    assert said.splitlines()[-1].startswith("`vera-ccc ")
    assert "--help` " in said.splitlines()[-1]


@pytest.mark.parametrize("arguments", ["serch", "search", "--help", "help index", "sync"])
def test_what_was_run_is_what_usage_and_hints_name(arguments: str, tmp_path: Path) -> None:
    script = str(ROOT / "vera_ccc_tools" / "bootstrap.py")
    done = subprocess.run(
        [sys.executable, script, *arguments.split()],
        cwd=tmp_path,
        env=os.environ | {"VERA_CCC_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = done.stdout + done.stderr
    python = "python3" if POSIX else "python"
    name = shlex.join([python, script]) if POSIX else subprocess.list2cmdline([python, script])
    assert "vera-ccc " not in said
    assert name in said


def test_both_names_of_the_directory_go_for_every_verb(tmp_path: Path) -> None:
    for verb in VERBS:
        for option in ("--cwd", "--dir"):
            words = {"search": ["x"], "call": ["x"]}.get(verb.name, [])
            if verb.name not in {"tools", "worker"}:
                assert main.parse(verb, [*words, option, "/a"]).cwd == "/a"
    for verb_and_option in ("index --cwd", "index --dir", "init --dir"):
        verb_name, option = verb_and_option.split()
        done = vera(verb_name, option, str(tmp_path / "nope"))
        shown = "--dir" if verb_name == "init" else "--cwd"
        assert done.stderr.decode().splitlines()[-1] == (
            f"Give `{shown}` a directory that exists and that you may read."
        )


def test_json_and_text_name_the_same_options(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    root = make_project(tmp_path / "p")
    fake = fake_ccc(fake_executable, tmp_path, "print('  Chunks: 1\\n  Files:  1')")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    asked = ("search", "x", "--lang", "klingon", "--cwd", str(root))
    said = vera(*asked, environ=environ).stderr.decode().splitlines()
    error = json.loads(vera(*asked, "--json", environ=environ).stdout)["error"]
    assert [error["message"], error["hint"]] == said
    assert said[0].startswith("`--lang`: 'klingon'")
    for verb in ("doctor", "status"):
        seen = vera(verb, "--json", cwd=tmp_path, environ={"VERA_CCC_EXECUTABLE": "/x"}).stdout
        told = json.loads(seen)
        assert "rg meanwhile" not in told.get("hint", told["text"])
    assert "rg meanwhile" not in vera("doctor", cwd=tmp_path, environ=environ).stdout.decode()
    seen = json.loads(vera("status", "--json", cwd=tmp_path, environ=environ).stdout)
    assert seen["hint"] == (
        "Run `vera-ccc call ccc_init`, then `vera-ccc index`, if this directory is to be indexed."
    )


def test_the_help_names_every_verb_and_each_verb_has_its_own() -> None:
    listed = vera("--help").stdout.decode()
    assert listed == vera("help").stdout.decode()
    for verb in VERBS:
        assert f"  {verb.name:8}{verb.summary}\n" in listed
        assert callable(verb.run)
        told = vera(verb.name, "--help")
        assert told.returncode == 0
        assert told.stdout.decode().startswith(f"usage: vera-ccc {verb.name}")
        assert all(line in told.stdout.decode() for line, _ in verb.examples)
    assert vera("help", "sync").stdout == vera("sync", "--help").stdout


def test_every_example_can_be_parsed() -> None:
    for verb in VERBS:
        for line, _ in verb.examples:
            name, *arguments = shlex.split(line.partition(" | ")[0])[1:]
            assert name == verb.name
            main.parse(verb, arguments)


def test_the_words_of_a_query_may_stand_among_the_options() -> None:
    verb = VERBS[0]
    for given in (
        ["where is", "it", "--limit", "3"],
        ["--limit", "3", "where is", "it"],
        ["where is", "--limit", "3", "it"],
    ):
        options = main.parse(verb, given)
        assert (options.query, options.limit) == (["where is", "it"], 3)
    assert main.parse(verb, ["--", "--help", "-x"]).query == ["--help", "-x"]


def test_a_failure_is_an_object_on_standard_output_where_json_is_wanted(tmp_path: Path) -> None:
    for verb in (("search", "x", "--rank", "ccc"), ("index",), ("sync",)):
        done = vera(*verb, "--json", "--cwd", str(tmp_path), environ={"VERA_CCC_EXECUTABLE": "/x"})
        assert (done.returncode, done.stderr) == (1, b"")
        error = json.loads(done.stdout)["error"]
        assert error["code"] == ("not_initialized" if verb == ("sync",) else "ccc_missing")
        assert error["message"]
        assert error["hint"]


def test_a_search_gives_programs_what_a_model_reads_and_more_as_json(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    root = make_project(tmp_path / "p")
    write_file(root / "sub" / "a.py", "x = 1\n")
    fake = fake_ccc(fake_executable, tmp_path, f"print({answer(row('sub/a.py', 'x = 1'))!r})")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    given = {"query": "two words", "limit": 1, "languages": ["python"], "refresh_index": False}
    at = ("--cwd", str(root / "sub"))
    call = vera("call", "ccc_search", json.dumps(given), *at, environ=environ)
    options = ("--limit", "1", "--lang", "python", "--no-refresh", *at)
    done = vera("search", "two", "words", *options, environ=environ)
    read = call.stdout.replace(b"go on with offset", b"go on with --offset")
    assert (done.returncode, done.stdout, done.stderr) == (0, read, b"")
    assert done.stdout.startswith(b"a.py:1-1 [python] 0.500\nx = 1\n")
    asked = [each for each in fake.argvs() if each[0] == "search"]
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
    found = json.loads(vera("search", "--json", "two words", *options, environ=environ).stdout)
    assert found["results"] == [
        {
            "file_path": "sub/a.py",
            "language": "python",
            "start_line": 1,
            "end_line": 1,
            "score": 0.5,
            "lines": 2,
            "preview": "x = 1",
            "path": "a.py",
            "content": "x = 1",
        }
    ]
    assert found["text"] == read.decode().rstrip("\n")
    assert found["refreshed"] is False


def test_a_report_with_failed_checks_goes_to_standard_output_and_ends_with_1(
    tmp_path: Path,
) -> None:
    done = vera("doctor", cwd=tmp_path, environ={"VERA_CCC_EXECUTABLE": "/x"})
    assert (done.returncode, done.stderr) == (1, b"")
    assert "✗ ccc: VERA_CCC_EXECUTABLE is '/x'" in done.stdout.decode()
    done = vera("doctor", "--json", cwd=tmp_path, environ={"VERA_CCC_EXECUTABLE": "/x"})
    assert done.returncode == 1
    assert json.loads(done.stdout)["checks"][0] == {"name": "ccc", "ok": False}


def test_the_status_as_json_has_the_overview_and_the_text(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", indexed=False)
    fake = environment(VERA_CCC_EXECUTABLE=sys.executable)
    seen = json.loads(vera("status", "--json", cwd=root, environ=fake).stdout)
    assert (seen["state"], seen["root"]) == ("unindexed", str(root))
    assert seen["text"] == vera("status", cwd=root, environ=fake).stdout.decode().rstrip("\n")


def test_the_table_is_printed_as_the_adapter_has_it() -> None:
    done = vera("tools")
    assert done.returncode == 0
    assert json.loads(done.stdout) == table.listing()
    assert done.stdout.decode() == (ROOT / "extension" / "tools.json").read_text("utf-8")


def test_the_status_of_a_directory_is_printed(tmp_path: Path) -> None:
    for arguments, cwd in (((), tmp_path), (("--cwd", str(tmp_path)), ROOT)):
        done = vera("status", *arguments, cwd=cwd, environ={"PATH": ""})
        assert done.returncode == 0
        assert done.stdout.startswith(b"Semantic code search is not available now.\n")


@pytest.mark.parametrize("verb", [("status",), ("sync",), ("call", "ccc_index")])
def test_a_directory_that_is_missing_ends_with_1(tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = vera(*verb, "--cwd", str(tmp_path / "missing"))
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"missing' cannot be used: No such file or directory." in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_sync_without_a_project_is_a_failure_with_a_hint(tmp_path: Path) -> None:
    done = vera("sync", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == b""
    message, hint = done.stderr.decode().splitlines()
    assert message == f"{tmp_path} belongs to no ccc project."
    assert "`vera-ccc call ccc_init`" in hint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ccc_search", "{"), "The arguments '{' are no JSON: "),
        (("ccc_search", "[" * 100_000), "The arguments '[[["),
        (("ccc_search", "[]"), "The arguments are []; they have to be an object."),
        (("ccc_search",), "`query` is missing."),
        (("ccc_search", '{"query": [5]}'), "`query` is [5]; it has to be a text."),
        (("ccc_nothing",), "There is no tool 'ccc_nothing'."),
    ],
)
def test_a_wrong_call_ends_with_1(arguments: tuple[str, ...], says: str) -> None:
    done = vera("call", *arguments)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode().startswith(says)
    assert b"Traceback" not in done.stderr


def test_a_call_prints_its_text_in_utf_8_whatever_the_terminal_says(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    body = f"print({answer(row('日本.py', 'ü = 1'))!r})"
    fake = fake_ccc(fake_executable, tmp_path, body)
    root = make_project(tmp_path / "p")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    odd = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    given = json.dumps({"query": "日本", "refresh_index": False})
    done = vera("call", "ccc_search", given, "--cwd", str(root), environ={**environ, **odd})
    assert done.returncode == 0, done.stderr
    assert "日本.py:1-1 [python] 0.500\nü = 1\n" in done.stdout.decode()


def test_a_call_waits_for_what_it_starts_in_the_background(
    tmp_path: Path, fake_executable: MakeExecutable
) -> None:
    fake = fake_ccc(fake_executable, tmp_path, "print('  Chunks: 1\\n  Files:  1')")
    root = make_project(tmp_path / "p")
    environ = {"VERA_CCC_EXECUTABLE": str(fake.path), "VERA_CCC_GITIGNORE_SYNC": "0"}
    done = vera("call", "ccc_index", '{"background": true}', "--cwd", str(root), environ=environ)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1] == "ccc_index in the background is done."
