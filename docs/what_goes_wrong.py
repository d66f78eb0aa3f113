"""What each reader is told of each failure: ``python3 docs/what_goes_wrong.py`` writes the page.

The failures are those of the table in the README, made by the code that raises them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

PAGE = Path(__file__).with_suffix(".md")
sys.path.insert(0, str(PAGE.parents[1]))

from vera_ccc_tools.ccc.client import Ccc, Deadline, Status  # noqa: E402 - on the path by now
from vera_ccc_tools.ccc.faults import named  # noqa: E402
from vera_ccc_tools.ccc.replies import Progress  # noqa: E402
from vera_ccc_tools.errors import Failure, Front  # noqa: E402
from vera_ccc_tools.phrases import say  # noqa: E402
from vera_ccc_tools.refresh.index_runs import still_indexing  # noqa: E402
from vera_ccc_tools.system.environment import Environment  # noqa: E402
from vera_ccc_tools.tools.index import check_indexed  # noqa: E402
from vera_ccc_tools.tools.session import Session  # noqa: E402

SHOWN = Path("/home/me/project")
READERS = {
    Front.MODEL: "Pi's model",
    Front.PERSON: "a person in Pi",
    Front.MCP: "an agent behind MCP",
    Front.TERMINAL: "a person at a terminal",
}
CCC = Ccc(SHOWN / "ccc", Environment({"HOME": "/home/me"}))
RUN = Progress(listed=1300, added=1204, deleted=0, reprocessed=0, unchanged=0, errors=7)


def failures(root: Path) -> Mapping[str, Failure]:
    """The failure that each row of the README speaks of, by the words that it is found by.

    *root* is an empty directory.
    """
    session = Session({"HOME": str(root / "home"), "PATH": ""})

    def of(words: str, code: str) -> tuple[str, Failure]:
        fault = named(code)
        return words, Failure(code, fault.cause.format("", "…", "…").strip(), fault.step)

    def raised(words: str, call: Callable[[], object]) -> tuple[str, Failure]:
        try:
            call()
        except Failure as failure:
            return words, failure
        raise AssertionError(words)

    outside = raised("belongs to no ccc project", lambda: session.indexed_root(root))
    settings = root / ".cocoindex_code" / "settings.yml"
    settings.parent.mkdir()
    settings.write_text("{}\n", encoding="utf-8")
    late = Deadline.of("search", CCC.environment, None)
    status = Status(exists=True, files=900, chunks=0, progress=RUN)
    return dict(
        [
            raised("(`ccc`) is not installed", session.ccc),
            of("The installed ccc is too old", "ccc_too_old"),
            outside,
            raised("has no index yet", lambda: session.indexed_root(root)),
            of("ccc has no embedding model yet", "no_embedding_model"),
            of("The embedding model is already chosen", "model_already_chosen"),
            of("The embedding service refused ccc's key", "model_refused"),
            of("ccc cannot reach or load its embedding model", "model_unreachable"),
            of("The embedding service takes no more requests", "model_busy"),
            of("The embedding service does not know the model", "model_unknown"),
            of("The embedding model does not take chunks of this length", "chunk_too_long"),
            of("The embedding service is not ready yet", "model_not_ready"),
            ("so that the request goes to the proxy", behind_proxy(root)),
            of("cannot load SQLite extensions", "no_sqlite_extensions"),
            ("did not answer within", late.missed("search", starting=False)),
            ("was not running, and is starting now", late.missed("status", starting=True)),
            of("ccc's daemon went away during the call", "daemon_lost"),
            ("is being built or checked by ccc's daemon", still_indexing(SHOWN, status)),
            of("The index was reset while ccc's daemon had it open", "index_open_elsewhere"),
            of("The index was built with another embedding model", "other_vectors"),
            of("ccc cannot write", "disk_full"),
            raised(
                "could be indexed",
                lambda: check_indexed(SHOWN, Status(exists=True, progress=RUN), CCC),
            ),
            of("ccc cannot read a pattern in the project's settings", "bad_glob"),
            of("a file whose name is not UTF-8", "odd_name"),
            of("The path of ccc's daemon socket is too long", "socket_path_too_long"),
        ]
    )


def behind_proxy(root: Path) -> Failure:
    """A server on this machine that a proxy variable keeps ccc from."""
    settings = root / "global_settings.yml"
    settings.write_text('envs: {OPENAI_API_BASE: "http://127.0.0.1:8080/v1"}\n', encoding="utf-8")
    variables = {"COCOINDEX_CODE_DIR": str(root), "HTTP_PROXY": "http://proxy:3128"}
    fault = named("model_unreachable")
    cause = Failure(fault.code, fault.cause.format("", "…"), fault.step)
    return Ccc(SHOWN / "ccc", Environment(variables)).behind_proxy(cause)


def page() -> str:
    """The text of the page."""
    lines = [
        "# What is told of a failure, and to whom",
        "",
        "`python3 docs/what_goes_wrong.py` writes this page; a test says that it is up to date.",
    ]
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        for failure in failures(root).values():
            lines += ["", f"## {failure.message}", ""]
            told: dict[str, list[str]] = {}
            for front, reader in READERS.items():
                told.setdefault(say(failure.step, front), []).append(reader)
            for step, readers in told.items():
                who = "all" if len(readers) == len(READERS) else ", ".join(readers)
                lines.append(f"- {who[0].upper()}{who[1:]}: {step}")
        return "\n".join(lines).replace(str(root), str(SHOWN)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
