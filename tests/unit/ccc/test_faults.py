"""What ccc says when something is wrong, and what is made of it."""

from __future__ import annotations

import re

import pytest

from vera_ccc_tools import phrases
from vera_ccc_tools.ccc import faults
from vera_ccc_tools.errors import Front

SAID = {
    "ccc_too_old": [
        "│ No such option: --json  │",
        "Error: No such option '--json'",
        "No such command 'version'.",
    ],
    "ccc_broken": ["ModuleNotFoundError: No module named 'mcp.server'"],
    "no_sqlite_extensions": [
        "AttributeError: 'sqlite3.Connection' object has no attribute 'enable_load_extension'",
        "sqlite3.OperationalError: no such module: vec0",
    ],
    "no_embedding_model": ["Error: sentence-transformers is not installed and stdin is not a TTY"],
    "no_global_settings": [
        "FileNotFoundError: Global settings not found: /home/u/.cocoindex_code/global_settings.yml",
        "RuntimeError: Daemon has no global settings loaded. Run `ccc init` to set up.",
    ],
    "model_already_chosen": [
        "Error: global settings already exist at /home/u/.cocoindex_code/global_settings.yml."
    ],
    "parent_project": ["Error: A parent directory has a project marker: /home/u/code"],
    "not_initialized": ["Error: Not in an initialized project directory."],
    "index_open_elsewhere": ["Error: environment already open in this program"],
    "bad_glob": [
        "Error: error parsing glob '**/[id/**': unclosed character class; missing ']'",
    ],
    "odd_name": [
        "Indexing failed: 'utf-8' codec can't encode character '\\udcff': surrogates not allowed",
    ],
    "not_indexed": ["sqlite3.OperationalError: no such table: code_chunks_vec"],
    "model_busy": [
        (
            "litellm.RateLimitError: RateLimitError: OpenAIException - Error code: "
            "429 - Rate limit reached for requests"
        )
    ],
    "model_unknown": [
        (
            "litellm.NotFoundError: NotFoundError: OpenAIException - Error code: 404 "
            "- The model `nope` does not exist"
        )
    ],
    "chunk_too_long": [
        (
            "litellm.APIError: APIError: OpenAIException - Error code: 413 - input is "
            "too large to process. increase the physical batch size"
        ),
        (
            "Indexing failed: litellm.ContextWindowExceededError: litellm.BadRequestError: "
            "OpenAIException - Error code: 400 - This model's maximum context length is 512 tokens"
        ),
    ],
    "model_not_ready": [
        (
            "Indexing failed: litellm.ServiceUnavailableError: ServiceUnavailableError: "
            "OpenAIException - Error code: 503 - Loading model"
        )
    ],
    "other_vectors": [
        "Error: Dimension mismatch for query vector. Expected 2 dimensions but received 3"
    ],
    "bad_settings": ["Indexing failed: Error loading /p/.cocoindex_code/settings.yml: while"],
    "disk_full": [
        "sqlite3.OperationalError: database or disk is full",
        "RuntimeError: No space left on device (os error 28)",
    ],
    "read_only": [
        "RuntimeError: Read-only file system (os error 30)",
        "sqlite3.OperationalError: attempt to write a readonly database",
        "PermissionError: [Errno 13] Permission denied: '/p/.cocoindex_code/cocoindex.db'",
    ],
    "index_full": ["lmdb.MapFullError: MDB_MAP_FULL: Environment mapsize limit reached"],
    "too_many_readers": ["MDB_READERS_FULL: Environment maxreaders limit reached"],
    "socket_path_too_long": ["OSError: AF_UNIX path too long"],
    "stale_daemon": [
        "DaemonProtocolError: Undecodable handshake reply: Object missing required field `pid`",
        "Daemon version mismatch (daemon=0.2.37, client=0.2.42).",
        "Daemon is running with stale global settings and needs a restart.",
    ],
    "daemon_failed": [
        "DaemonStartError: Daemon process exited before it became ready.",
        "cocoindex-code daemon crashed 3 times in a row; not restarting it again.",
        "Daemon did not start in time.",
    ],
    "daemon_lost": [
        "RuntimeError: Connection to daemon lost: [Errno 104] Connection reset by peer",
        "RuntimeError: Failed to connect to daemon after starting it",
        "RuntimeError: client has been closed",
    ],
    "model_refused": [
        "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key",
    ],
    "model_unreachable": [
        "litellm.InternalServerError: OpenAIException - Connection error.",
        "litellm.APIConnectionError: x",
        "OSError: Can't load the model for 'x'",
    ],
}


@pytest.mark.parametrize(
    ("code", "said"), [(code, said) for code, each in SAID.items() for said in each]
)
def test_each_fault_is_recognised_by_ccc_s_own_words(code: str, said: str) -> None:
    failure = faults.recognise(f"a line before\n{said}\nand one after\n")
    assert failure is not None
    assert failure.code == code
    assert failure.step
    assert "{" not in str(failure)
    assert "\n" not in failure.message


def test_each_row_of_the_table_has_its_words_here() -> None:
    assert {fault.code for fault in faults.FAULTS} == set(SAID)


def test_causes_and_remedies_are_sentences_and_only_use_the_groups_there_are() -> None:
    for fault in faults.FAULTS:
        groups = re.compile(fault.words).groups
        used = [int(each) for each in re.findall(r"\{(\d)\}", fault.cause)]
        assert all(1 <= each <= groups for each in used), fault.code
        assert fault.cause.endswith((".", "}")), fault.code
        assert phrases.say(fault.step, Front.MODEL).endswith("."), fault.code


@pytest.mark.parametrize(
    "said",
    [
        "",
        "ValueError: something new",
        "error in src/timeout/retry.py: Timeout must be positive",
        "TimeoutError: the disk took too long",
        "No such option: --limit",
    ],
)
def test_other_words_are_no_fault_of_the_table(said: str) -> None:
    assert faults.recognise(said) is None


def test_the_first_fault_of_several_is_the_one_that_is_told() -> None:
    said = "AttributeError: enable_load_extension\nRuntimeError: Connection to daemon lost: x"
    failure = faults.recognise(said)
    assert failure is not None
    assert failure.code == "no_sqlite_extensions"


@pytest.mark.parametrize("line", ["x" * 65536, "a: " * 20_000, "Error: " * 9000, "litellm." * 8000])
def test_a_long_line_is_looked_through_in_a_time_that_its_length_bounds(line: str) -> None:
    assert faults.recognise(f"{line}\nlitellm.APIConnectionError: no") is not None
