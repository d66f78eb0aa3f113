"""What ccc says when something is wrong, what it means, and what to do: the one table of it.

The words are ccc's own (0.2.37 to 0.2.42), those of its engine and of SQLite and LMDB below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vera_ccc_tools.errors import Do, Failure, Step

UPGRADE = "Upgrade it: `pipx upgrade cocoindex-code`, `uv tool upgrade cocoindex-code`, or pip."
MOST_QUOTED = 300
"""Characters of ccc's words that a cause quotes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong in ccc.

    Attributes:
        code: The failure's code.
        words: A regular expression for what ccc says; its groups fill *cause*.
        cause: What it means, one sentence; ``{1}`` is the first group.
        step: The next step.
    """

    code: str
    words: str
    cause: str
    step: Step | str

    def failure(self, text: str) -> Failure | None:
        """This fault as a failure, when *text* speaks of it."""
        found = re.search(self.words, text, re.IGNORECASE)
        if found is None:
            return None
        groups = [(group or "").strip()[:MOST_QUOTED] for group in (found[0], *found.groups())]
        return Failure(self.code, self.cause.format(*groups), self.step)


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
        "ccc has no embedding model yet.",
        Step(Do.CHOOSE_MODEL),
    ),
    Fault(
        "no_global_settings",
        r"Global settings not found: (.+?)(?:\n|$)",
        "ccc has not been set up for this user: its global settings {1} do not exist.",
        Step(Do.CHOOSE_MODEL),
    ),
    Fault(
        "no_global_settings",
        r"no global settings loaded",
        "ccc has not been set up for this user: its daemon has no global settings.",
        Step(Do.CHOOSE_MODEL),
    ),
    Fault(
        "model_already_chosen",
        r"global settings already exist at (.+?)\.?(?:\n|$)",
        "The embedding model is already chosen, in {1}; ccc takes no other one here.",
        Step(Do.KEEP_MODEL),
    ),
    Fault(
        "parent_project",
        r"parent directory has a project marker: (.+?)(?:\n|$)",
        "This directory lies inside another project, {1}.",
        Step(Do.INIT_FORCED),
    ),
    Fault(
        "not_initialized",
        r"Not in an initialized project directory",
        "This directory belongs to no ccc project.",
        Step(Do.INIT),
    ),
    Fault(
        "index_open_elsewhere",
        r"environment already open in this program",
        "The index was reset while ccc's daemon had it open, and the daemon cannot open it again.",
        Step(Do.RESTART_DAEMON),
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
        Step(Do.RENAME),
    ),
    Fault(
        "not_indexed",
        r"no such table: code_chunks",
        "The index holds nothing yet: its first run did not end well.",
        Step(Do.INDEX),
    ),
    Fault(
        "other_vectors",
        r"Dimension mismatch for \w+ vector[^\n]*?Expected (\d+) dimensions but received (\d+)",
        "The index was built with another embedding model: its vectors have {1} dimensions, those "
        "of the model now {2}.",
        Step(Do.REBUILD),
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
        Step(Do.MAKE_ROOM),
    ),
    Fault(
        "read_only",
        r"Read-only file system|attempt to write a readonly database"
        r"|(?:PermissionError: |Permission denied)[^\n]*\.cocoindex_code",
        "ccc cannot write into the project's directory .cocoindex_code, which it needs to.",
        Step(Do.MAKE_WRITABLE),
    ),
    Fault(
        "index_full",
        r"MDB_MAP_FULL|map ?size limit reached|map full",
        "ccc's index database has reached its size limit.",
        Step(Do.EXCLUDE_MORE),
    ),
    Fault(
        "too_many_readers",
        r"MDB_READERS_FULL|readers? (?:table )?full|maxreaders",
        "Too many readers hold ccc's index database open.",
        Step(Do.RESTART_DAEMON),
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
        Step(Do.RESTART_DAEMON),
    ),
    Fault(
        "daemon_failed",
        r"(Daemon process exited before it became ready|Daemon did not start in time"
        r"|daemon crashed \d+ times in a row)",
        "ccc's daemon does not come up: {1}.",
        Step(Do.DOCTOR),
    ),
    Fault(
        "daemon_lost",
        r"(Connection to daemon lost[^\n\"]*|daemon exited unexpectedly"
        r"|Failed to connect to daemon[^\n\"]*|client has been closed)",
        "ccc's daemon went away during the call: {1}.",
        Step(Do.RETRY_OR_DOCTOR),
    ),
    Fault(
        "model_busy",
        r"((?:litellm\.)?RateLimitError[^\n]*|Error code: 429[^\n]*)",
        "The embedding service takes no more requests for now: {1}",
        "Wait, or raise the quota of the service; then try again.",
    ),
    Fault(
        "chunk_too_long",
        # Nothing unbounded before the words: ccc may print 64 KB without a line end.
        r"((?:litellm\.)?ContextWindowExceededError[^\n]*|Error code: 413[^\n]*"
        r"|[^\n]{0,80}maximum context length[^\n]*|input is too large[^\n]*)",
        "The embedding model does not take chunks of this length: {1}",
        "Let the embedding server take inputs of some 1,000 tokens, or choose a model that does.",
    ),
    Fault(
        "model_unknown",
        r"((?:litellm\.)?NotFoundError[^\n]*|Error code: 404[^\n]*)",
        "The embedding service does not know the model, or is at another address: {1}",
        Step(Do.CORRECT_MODEL, "ccc's global settings"),
    ),
    Fault(
        "model_not_ready",
        r"((?:litellm\.)?ServiceUnavailableError[^\n]*|Error code: 503[^\n]*)",
        "The embedding service is not ready yet: {1}",
        Step(Do.SOON),
    ),
    Fault(
        "model_refused",
        r"((?:litellm\.)?(?:AuthenticationError|PermissionDeniedError)[^\n]*"
        r"|Missing credentials[^\n]*|(?:Incorrect|Invalid|No) API key[^\n]*)",
        "The embedding service refused ccc's key, or there is none: {1}",
        Step(Do.CORRECT_KEY),
    ),
    Fault(
        "model_unreachable",
        r"((?:litellm\.)?(?:APIConnectionError|InternalServerError)\b[^\n]*|litellm\.Timeout[^\n]*"
        r"|APITimeoutError[^\n]*|Connection refused|couldn't be loaded"
        r"|Can't load the (?:model|configuration)[^\n]*)",
        "ccc cannot reach or load its embedding model: {1}",
        Step(Do.START_SERVICE),
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
