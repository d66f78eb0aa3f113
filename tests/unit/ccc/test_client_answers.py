"""What ccc prints, floods and fails with, and what each is told as."""

from __future__ import annotations

import json
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core_helpers import (
    COMMANDS,
    STATUS,
    MakeCcc,
    MakeExecutable,
    answer,
    ccc_maker,
    failing,
    printing,
    row,
)
from helpers import POSIX, write_file
from vera_ccc_tools.ccc.client import MOST_AT_ONCE, Query
from vera_ccc_tools.ccc.replies import Progress
from vera_ccc_tools.errors import Failure, Front
from vera_ccc_tools.phrases import tell


@pytest.fixture
def make(fake_executable: MakeExecutable, tmp_path: Path) -> MakeCcc:
    return ccc_maker(fake_executable, tmp_path)


@pytest.mark.parametrize(
    "printed",
    [
        "{answer}",
        "{answer}\n",
        "2026-11-30T15:04:35.249731Z  INFO cocoindex_core::telemetry: one\nwarning\n{answer}\n",
        "\x1b[2m2026-11-30T15:04:35Z\x1b[0m INFO two {answer}",
        "{answer}2026-11-30T15:04:35.249731Z  INFO cocoindex_core::telemetry: three\n",
        '{{"type":"search","success":tr\n{answer}\n',
        "{answer}\r\n",
    ],
)
def test_the_answer_is_read_among_what_else_is_printed(
    make: MakeCcc, tmp_path: Path, printed: str
) -> None:
    whole = answer(row("a.py", 'say("{") \u2028 日本'), row("b.py"))
    ccc, _ = make(printing(printed.format(answer=whole), error="a warning\n"))
    hits = ccc.search(tmp_path, Query("x", 5)).hits
    assert [hit.file_path for hit in hits] == ["a.py", "b.py"]
    assert hits[0].content == 'say("{") \u2028 日本'


def test_spaces_in_the_answer_and_a_score_that_is_none_do_no_harm(
    make: MakeCcc, tmp_path: Path
) -> None:
    spaced = answer(row(score=None), row(score=float("nan"))).replace('":', '": ')
    ccc, _ = make(printing(spaced))
    assert [hit.score for hit in ccc.search(tmp_path, Query("x", 5)).hits] == [0.0, 0.0]


def test_bytes_that_are_not_utf_8_cost_the_bytes_only(make: MakeCcc, tmp_path: Path) -> None:
    body = (
        f"sys.stdout.buffer.write({answer(row(content='aXb')).encode()!r}.replace(b'X', b'\\xff'))"
    )
    ccc, _ = make(body)
    assert ccc.search(tmp_path, Query("x", 5)).hits[0].content == "a\ufffdb"


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "\n",
        "no JSON at all",
        answer(row())[:-20],
        '{"type":"search"}',
        '{"type":"search","success":true}',
        '{"type":"search","success":true,"results":null}',
        '{"type":"search","success":true,"results":[{}]}',
        '{"type":"search","success":true,"results":["x"]}',
        answer(row(start_line="x")),
        '{"type":"search"' + "[" * 100_000,
        "\x1b[31m" + "x" * 100_000,
    ],
)
def test_an_answer_that_cannot_be_read_is_one_clear_sentence(
    make: MakeCcc, tmp_path: Path, printed: str
) -> None:
    ccc, _ = make(printing(printed))
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    assert failure.code in ("bad_output", "ccc_failed")
    assert failure.message.startswith("`ccc search` ")
    assert len(failure.message) < 500
    assert "\n" not in failure.message
    assert "\x1b" not in failure.message
    assert failure.step


@pytest.mark.parametrize("name", COMMANDS)
def test_an_exit_without_a_word_is_told_with_its_code(
    make: MakeCcc, tmp_path: Path, name: str
) -> None:
    ccc, _ = make("sys.exit(3)")
    failure = failing(lambda: COMMANDS[name](ccc, tmp_path))
    assert failure.message == f"`ccc {name}` failed: it ended with exit code 3 and no word"
    assert "ccc_doctor" in tell(failure, Front.MODEL)


def test_a_failure_in_the_answer_is_a_failure(make: MakeCcc, tmp_path: Path) -> None:
    said = answer(success=False, message="Index database not found")
    ccc, _ = make(printing(said, code=1))
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    assert failure.message == "`ccc search` failed: Index database not found"


OLD = """\
Usage: ccc search [OPTIONS] QUERY...
Try 'ccc search --help' for help.
╭─ Error ─────────────────────────────────────────────────╮
│ No such option: --json                                  │
╰─────────────────────────────────────────────────────────╯
"""


def test_a_ccc_that_is_too_old_is_named_with_the_upgrade(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make(printing("", code=2, error=OLD))
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    assert failure.code == "ccc_too_old"
    assert "too old" in failure.message
    assert "pipx upgrade cocoindex-code" in tell(failure, Front.MODEL)


BOXED = f"""\
╭─────────────────────── Traceback (most recent call last) ───────────────────────╮
│ /lib/cocoindex_code/cli.py:699 in search                                         │
│ ❱ 699     raise ValueError("not this one")                                       │
╰──────────────────────────────────────────────────────────────────────────────────╯
RuntimeError: Daemon error: disk I/O error
Traceback (most recent call last):
  File "/lib/cocoindex_code/daemon.py", line 609, in handle
sqlite3.OperationalError: disk I/O error {"x" * 900}
"""


def test_the_title_of_a_box_is_no_cause(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make(
        printing("", code=2, error=OLD.replace("No such option: --json", "It is Monday."))
    )
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    assert failure.message == "`ccc search` failed: It is Monday."


def test_of_a_traceback_the_last_cause_is_told(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make(printing("", code=1, error=BOXED))
    failure = failing(lambda: ccc.index(tmp_path))
    assert failure.message.startswith(
        "`ccc index` failed: sqlite3.OperationalError: disk I/O error xxx"
    )
    assert len(failure.message) < 600
    assert "\n" not in failure.message


def test_output_that_is_too_long_is_a_failure(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make("for _ in range(20): sys.stdout.write('x' * (1 << 20))")
    failure = failing(lambda: ccc.search(tmp_path, Query("x", 5)))
    assert failure.code == "too_much_output"
    assert "printed 20,971,520 bytes" in failure.message


def test_a_flood_beside_a_good_answer_is_dropped(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make(
        f"for _ in range(20): sys.stderr.write('x' * (1 << 20))\nprint({answer(row())!r})"
    )
    assert len(ccc.search(tmp_path, Query("x", 5)).hits) == 1


def test_the_cause_is_found_at_the_end_of_a_flood(make: MakeCcc, tmp_path: Path) -> None:
    flood = "for _ in range(20): sys.stderr.write('Error: not this\\n' * (1 << 16))"
    ccc, _ = make(f"{flood}\nsys.exit('ValueError: this one')")
    failure = failing(lambda: ccc.index(tmp_path))
    assert failure.message == "`ccc index` failed: ValueError: this one"


def test_a_lost_daemon_is_asked_once_more(make: MakeCcc, tmp_path: Path) -> None:
    lost = "RuntimeError: Connection to daemon lost: [Errno 104] Connection reset by peer"
    body = f"""
        if sum(1 for _ in open(log.name)) == 1:
            sys.exit({lost!r})
        print({STATUS!r})
    """
    ccc, fake = make(body)
    assert ccc.status(tmp_path).chunks == 12
    assert len(fake.calls()) == 2


def test_a_daemon_lost_twice_is_told_with_the_last_words_of_its_log(
    make: MakeCcc, tmp_path: Path, isolated_user: Path
) -> None:
    log = write_file(
        isolated_user / ".cocoindex_code" / "daemon.log", "first\nkilled: no memory\n\n"
    )
    ccc, fake = make("sys.exit('RuntimeError: Connection to daemon lost during indexing')")
    failure = failing(lambda: ccc.index(tmp_path))
    assert failure.code == "daemon_lost"
    assert f"{log} ends: 'killed: no memory'" in failure.message
    assert len(fake.calls()) == 2


def test_an_init_is_not_repeated(make: MakeCcc, tmp_path: Path) -> None:
    ccc, fake = make("sys.exit('RuntimeError: Connection to daemon lost: x')")
    assert failing(lambda: ccc.init(tmp_path, force=False, model=None, cancel=None)).code
    assert len(fake.calls()) == 1


def test_a_ccc_that_is_replaced_between_two_calls_is_run_as_it_is_then(
    make: MakeCcc, tmp_path: Path
) -> None:
    ccc, _ = make("print('0.2.41')")
    assert ccc.version() == "0.2.41"
    make("print('0.2.42')")
    assert ccc.version() == "0.2.42"


def test_an_index_run_and_a_status_are_read(make: MakeCcc, tmp_path: Path) -> None:
    line = "12 files listed | 3 added, 1 deleted, 2 reprocessed, 6 unchanged, error: 1"
    ccc, _ = make(
        printing(STATUS, error=f"Indexing: 1 files listed\rIndexing: x\nIndexing: {line}\n")
    )
    status = ccc.index(tmp_path)
    assert (status.files, status.chunks) == (3, 12)
    assert status.languages == (("python", 9), ("markdown", 3))
    assert status.progress == Progress(12, 3, 1, 2, 6, 1)
    assert status.progress.done == 12
    running, _ = make(printing(f"{STATUS}\nIndexing in progress: {line}\n"))
    assert running.status(tmp_path).progress == status.progress
    none, _ = make(printing("Index not created yet. Run `ccc index` to build the index.\n"))
    assert not none.status(tmp_path).exists


def test_the_projects_that_the_daemon_has_loaded_are_read(make: MakeCcc) -> None:
    ccc, _ = make(printing("Projects:\n  /a b/c [idle]\n  /日本 [indexing]\n"))
    assert ccc.loaded_projects() == {"/a b/c": False, "/日本": True}


def test_the_names_of_the_daemons_variables_are_left_out(make: MakeCcc, tmp_path: Path) -> None:
    said = "  Daemon\n  Version: 1\n  Other env vars in daemon: A, B\n\n  [FAIL] Model Check\n"
    ccc, _ = make(printing(said, error="    ERROR: APIConnectionError: refused\n"))
    found = ccc.doctor(tmp_path, verbose=False)
    assert "Other env vars" not in found.text
    assert "Version: 1" in found.text
    assert found.failed == ("APIConnectionError: refused",)


KEY = "sk-proj-0123456789abcdef"
SETTINGS = f"""\
embedding:
  provider: litellm
envs:
  OPENAI_API_KEY: {KEY}
  OPENAI_API_BASE: "http://user:hunter2hunter2@127.0.0.1:9/v1"
  HF_TOKEN: 'hf_abcdefghij'
  SHORT_KEY: none
"""


@pytest.mark.parametrize("name", ["version", "init", "index", "search", "status", "doctor"])
@pytest.mark.parametrize("code", [0, 1])
def test_no_key_of_the_user_is_ever_told(
    make: MakeCcc, tmp_path: Path, isolated_user: Path, name: str, code: int
) -> None:
    write_file(isolated_user / ".cocoindex_code" / "global_settings.yml", SETTINGS)
    said = f"Error: key {KEY} or {KEY[:14]}… hf_abcdefghij at http://user:hunter2hunter2@x none"
    body = printing(answer(success=False, message=said) if name == "search" else said, code=code)
    if code:
        body = printing("", code=code, error=f"{said}\n")
    ccc, _ = make(body, SOME_TOKEN="environment-token")
    try:
        told = str(COMMANDS[name](ccc, tmp_path))
    except Failure as failure:
        told = str(failure)
    for secret in (KEY, KEY[:14], "hunter2", "hf_abc"):
        assert secret not in told
    if code:
        assert "none" in told


def test_twenty_calls_at_once_each_get_their_own_answer(make: MakeCcc, tmp_path: Path) -> None:
    body = f"""
        answer, row = json.loads({answer()!r}), json.loads({json.dumps(row())!r})
        answer["results"] = [row | {{"content": argv[-1]}}]
        print(json.dumps(answer, separators=(",", ":")))
    """
    ccc, _ = make(body)

    def ask(number: int) -> str:
        return ccc.search(tmp_path, Query(f"question {number}", 5)).hits[0].content

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == [f"question {each}" for each in range(20)]
    assert threading.active_count() < 40


@pytest.mark.skipif(not POSIX, reason="a root that cannot be looked into is POSIX's")
def test_a_directory_that_is_gone_is_named(make: MakeCcc, tmp_path: Path) -> None:
    ccc, _ = make(STATUS)
    failure = failing(lambda: ccc.status(tmp_path / "gone"))
    assert failure.code == "cannot_run"
    assert str(tmp_path / "gone") in failure.message


def test_only_so_many_run_at_a_time(make: MakeCcc, tmp_path: Path) -> None:
    counted = """
    import pathlib
    here = pathlib.Path(__file__).parent / "running"
    here.mkdir(exist_ok=True)
    mine = here / str(os.getpid())
    mine.touch()
    (here.parent / f"seen.{len(list(here.iterdir()))}").touch()
    time.sleep(0.2)
    mine.unlink()
    """
    ccc, fake = make(textwrap.dedent(counted) + printing(answer()))
    with ThreadPoolExecutor(3 * MOST_AT_ONCE) as pool:
        calls = [pool.submit(ccc.search, tmp_path, Query("x", 1)) for _ in range(3 * MOST_AT_ONCE)]
        assert not any(call.result().hits for call in calls)
    seen = [int(path.suffix[1:]) for path in fake.path.parent.glob("seen.*")]
    assert 1 < max(seen) <= MOST_AT_ONCE
