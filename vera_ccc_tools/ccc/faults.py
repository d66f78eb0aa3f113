"""What ccc says when something is wrong, what it means, and what to do: the one table of it.

The words are ccc's own (0.2.37 to 0.2.42), those of its engine and of SQLite and LMDB below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vera_ccc_tools.errors import Failure

UPGRADE = "Upgrade it: `pipx upgrade cocoindex-code`, `uv tool upgrade cocoindex-code`, or pip."
INSTALL = (
    "Install it with `pipx install 'cocoindex-code[embeddings-local]'`, or with uv, "
    "then run `ccc init` once in a terminal."
)
MOST_QUOTED = 300
"""Characters of ccc's words that a cause quotes."""
RESTART = "Ask the user to run `ccc daemon restart` in a terminal, then try again."


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong in ccc.

    Attributes:
        code: The failure's code.
        words: A regular expression for what ccc says; its groups fill *cause*.
        cause: What it means, one sentence; ``{1}`` is the first group.
        remedy: The next step.
    """

    code: str
    words: str
    cause: str
    remedy: str

    def failure(self, text: str) -> Failure | None:
        """This fault as a failure, when *text* speaks of it."""
        found = re.search(self.words, text, re.IGNORECASE)
        if found is None:
            return None
        groups = [(group or "").strip()[:MOST_QUOTED] for group in (found[0], *found.groups())]
        return Failure(self.code, self.cause.format(*groups), self.remedy)


FAULTS = (
    Fault(
        "ccc_too_old",
        r"No such option:? *'?--json|No such command '?version",
        "The installed ccc is too old: its `search` knows no `--json` (0.2.39 and later do).",
        UPGRADE,
    ),
    Fault(
        "ccc_broken",
        r"((?:ModuleNotFoundError|ImportError): [^\n.]*)",
        "The installed ccc does not start: {1}.",
        "Reinstall it: `pipx reinstall cocoindex-code`, or `uv tool install --reinstall`.",
    ),
    Fault(
        "no_sqlite_extensions",
        r"enable_load_extension|not authorized.*sqlite|no such module: vec0",
        "The Python that ccc runs on cannot load SQLite extensions, so ccc cannot open an index.",
        "Reinstall ccc with another Python, for example "
        "`uv tool install --reinstall --managed-python cocoindex-code`.",
    ),
    Fault(
        "no_embedding_model",
        r"sentence-transformers is not installed and stdin is not a TTY",
        "ccc has no embedding model yet, and cannot ask for one without a terminal.",
        "Call ccc_init with `litellm_model` (the user's choice), "
        "or ask the user to run `ccc init` once in a terminal.",
    ),
    Fault(
        "no_global_settings",
        r"Global settings not found: (.+?)(?:\n|$)",
        "ccc has not been set up for this user: its global settings {1} do not exist.",
        "Call ccc_init with `litellm_model` (the user's choice), "
        "or ask the user to run `ccc init` once in a terminal.",
    ),
    Fault(
        "no_global_settings",
        r"no global settings loaded",
        "ccc has not been set up for this user: its daemon has no global settings.",
        "Call ccc_init with `litellm_model` (the user's choice), "
        "or ask the user to run `ccc init` once in a terminal.",
    ),
    Fault(
        "model_already_chosen",
        r"global settings already exist at (.+?)\.?(?:\n|$)",
        "The embedding model is already chosen, in {1}; ccc takes no other one here.",
        "Call ccc_init without `litellm_model`, or ask the user to edit that file.",
    ),
    Fault(
        "parent_project",
        r"parent directory has a project marker: (.+?)(?:\n|$)",
        "This directory lies inside another project, {1}.",
        "Initialize that directory instead, or call ccc_init with `force` to make one here.",
    ),
    Fault(
        "not_initialized",
        r"Not in an initialized project directory",
        "This directory belongs to no ccc project.",
        "Call ccc_init, then ccc_index; use rg meanwhile.",
    ),
    Fault(
        "index_open_elsewhere",
        r"environment already open in this program",
        "The index was reset while ccc's daemon had it open, and the daemon cannot open it again.",
        RESTART,
    ),
    Fault(
        "bad_glob",
        r"error parsing glob (.+?)(?:\n|$)",
        "ccc cannot read a pattern in the project's settings: {1}",
        "Correct `include_patterns` or `exclude_patterns` in .cocoindex_code/settings.yml.",
    ),
    Fault(
        "odd_name",
        r"'utf-?8' codec can't encode characters? .*surrogates not allowed",
        "The project holds a file whose name is not UTF-8, at which ccc's index run ends.",
        "Ask the user to rename it (`find . -print0 | grep -zavx '.*'` lists such names), or "
        "exclude its directory in .cocoindex_code/settings.yml.",
    ),
    Fault(
        "not_indexed",
        r"no such table: code_chunks",
        "The index holds nothing yet: its first run did not end well.",
        "Call ccc_index, which tells why; use rg meanwhile.",
    ),
    Fault(
        "bad_settings",
        r"(Error loading [^\n]+)(?:[^\0]*?\b(line \d+))?",
        "ccc cannot read its settings: {1} {2}",
        "Correct that file; nothing was changed.",
    ),
    Fault(
        "disk_full",
        r"No space left on device|database or disk is full|Disk quota exceeded",
        "ccc cannot write: the disk is full.",
        "Ask the user to make room on the disk; use rg meanwhile.",
    ),
    Fault(
        "read_only",
        r"Read-only file system|attempt to write a readonly database"
        r"|(?:PermissionError: |Permission denied)[^\n]*\.cocoindex_code",
        "ccc cannot write into the project's directory .cocoindex_code, which it needs to.",
        "Ask the user to make that directory writable; use rg meanwhile.",
    ),
    Fault(
        "index_full",
        r"MDB_MAP_FULL|map ?size limit reached|map full",
        "ccc's index database has reached its size limit.",
        "Ask the user to exclude generated or vendored directories in "
        ".cocoindex_code/settings.yml and to build the index anew.",
    ),
    Fault(
        "too_many_readers",
        r"MDB_READERS_FULL|readers? (?:table )?full|maxreaders",
        "Too many readers hold ccc's index database open.",
        RESTART,
    ),
    Fault(
        "socket_path_too_long",
        r"AF_UNIX path too long",
        "The path of ccc's daemon socket is too long for this system.",
        "Set COCOINDEX_CODE_RUNTIME_DIR to a short directory, then try again.",
    ),
    Fault(
        "stale_daemon",
        r"missing required field|Daemon version mismatch|Undecodable handshake"
        r"|stale global settings",
        "ccc's daemon is of another version than ccc, or has older settings.",
        RESTART,
    ),
    Fault(
        "daemon_failed",
        r"(Daemon process exited before it became ready|Daemon did not start in time"
        r"|daemon crashed \d+ times in a row)",
        "ccc's daemon does not come up: {1}.",
        "Ask the user to run `ccc doctor` in a terminal; the daemon's log tells why.",
    ),
    Fault(
        "daemon_lost",
        r"(Connection to daemon lost[^\n\"]*|daemon exited unexpectedly"
        r"|Failed to connect to daemon[^\n\"]*|client has been closed)",
        "ccc's daemon went away during the call: {1}.",
        "Try again; if it happens again, call ccc_doctor.",
    ),
    Fault(
        "model_refused",
        r"((?:litellm\.)?(?:AuthenticationError|PermissionDeniedError)[^\n]*"
        r"|Missing credentials[^\n]*|(?:Incorrect|Invalid|No) API key[^\n]*)",
        "The embedding service refused ccc's key, or there is none: {1}",
        "Ask the user to correct `envs` in ccc's global settings, then to run `ccc doctor`.",
    ),
    Fault(
        "model_unreachable",
        r"((?:litellm\.)?(?:APIConnectionError|InternalServerError)\b[^\n]*|litellm\.Timeout[^\n]*"
        r"|APITimeoutError[^\n]*|Connection refused|couldn't be loaded"
        r"|Can't load the (?:model|configuration)[^\n]*)",
        "ccc cannot reach or load its embedding model: {1}",
        "Ask the user to start the embedding service, or to correct ccc's global settings; "
        "`ccc doctor` tests the model.",
    ),
)


def named(code: str) -> Fault:
    """The first fault of the table with *code*."""
    return next(fault for fault in FAULTS if fault.code == code)


def recognise(text: str) -> Failure | None:
    """The first fault of the table that *text*, what a ccc command printed, speaks of."""
    for fault in FAULTS:
        failure = fault.failure(text)
        if failure is not None:
            return failure
    return None
