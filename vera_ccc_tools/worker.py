"""The worker: JSON-RPC 2.0, one request a line, on standard input and output.

=============  =========================  ==================================================
method         params                     result
=============  =========================  ==================================================
`tools/list`                              ``tools``: name, label, description, inputSchema, …
`tools/call`   name, arguments, cwd       ``content``, ``isError``, ``details``
`status`       cwd                        ``text``, for a model: see `status`
`overview`     cwd                        for a person's eyes: see `overview.to_json`
`sync`         cwd, dry_run (false)       ``text``, ``report``: see `sync.report.Report`; with
                                          dry_run, the rule behind each entry as well
`cancel`       id (a notification)        that request answers with the error -32800
`progress`     id, text, and of an index  a notification from the worker
               run done, listed, seconds
=============  =========================  ==================================================

Calls run side by side, each in a thread of its own; every request gets exactly one answer;
standard output carries nothing else. A `Failure` is an error whose ``data`` has ``code`` and
``hint``, but for `tools/call`, whose result it is.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from vera_ccc_tools.ccc import project
from vera_ccc_tools.errors import Failure, Front, InvalidArgument, shorten
from vera_ccc_tools.phrases import say
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import overview, status, table
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.tools.sync import sync

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
MAX_LINE = 8 * 1024 * 1024
"""Bytes of the longest request that is read; a longer one is refused and passed over."""
MAX_CALLS = 64
"""Requests that may be under way at once; further ones are refused."""
PATIENCE = 1.0
"""Seconds that the requests still under way have to end once nobody waits for them."""


class ProtocolError(Exception):
    """A request that cannot be carried out, with its wire code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    """Serve until standard input closes."""
    reader, writer = _claim_standard_streams()
    Worker(reader, writer, Session()).serve()
    return 0


def _claim_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the protocol's streams for ourselves: stray prints go to stderr, stray reads get EOF."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return reader, writer


@dataclass(frozen=True, slots=True)
class Request:
    """A request or notification, checked as far as JSON-RPC goes."""

    id: int | str | None
    method: str
    params: Mapping[str, Any]


class Worker:
    """Reads requests from one stream and answers on another."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, session: Session) -> None:
        self._reader = reader
        self._writer = writer
        self._session = session
        self._write_lock = threading.Lock()
        self._lock = threading.Lock()
        self._running: dict[int | str, Cancel] = {}
        self._threads: set[threading.Thread] = set()
        self._methods: dict[str, Callable[[Request, Cancel], dict[str, Any]]] = {
            "tools/list": lambda _request, _cancel: table.listing(),
            "tools/call": self._call,
            "status": self._status,
            "overview": self._overview,
            "sync": self._sync,
        }

    def serve(self) -> None:
        """Answer requests until the input closes, then end what still runs."""
        try:
            for line in self._lines():
                self._take(line)
        finally:
            self._end()

    def _lines(self) -> Any:
        while line := self._reader.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = self._reader.readline(MAX_LINE)
                self._fail(None, INVALID_REQUEST, f"The request is longer than {MAX_LINE:,} bytes.")
            elif line.strip():
                yield line

    def _take(self, line: bytes) -> None:
        try:
            request = _request(line)
        except ProtocolError as error:
            self._fail(_id_of(line), error.code, str(error))
            return
        if request.method == "cancel":
            self._cancel(request.params.get("id"))
        elif request.id is not None:
            self._begin(request)

    def _begin(self, request: Request) -> None:
        assert request.id is not None
        cancel = Cancel()
        with self._lock:
            refused = self._refusal(request.id)
            if refused is None:
                self._running[request.id] = cancel
        if refused is not None:
            self._fail(request.id, INVALID_REQUEST, refused)
            return
        thread = threading.Thread(target=self._run, args=(request, cancel), daemon=True)
        with self._lock:
            self._threads.add(thread)
            thread.start()  # inside, so that `_end` joins no thread that has not started

    def _refusal(self, request_id: int | str) -> str | None:
        if request_id in self._running:
            return f"A request with the id {shorten(request_id)} is under way already."
        if len(self._running) >= MAX_CALLS:
            return f"{MAX_CALLS} requests are under way already; wait for one of them."
        return None

    def _run(self, request: Request, cancel: Cancel) -> None:
        assert request.id is not None
        try:
            answer = {"result": self._answer(request, cancel)}
        except ProtocolError as error:
            answer = {"error": {"code": error.code, "message": str(error)}}
        except Cancelled as cancelled:
            answer = {"error": {"code": CANCELLED, "message": str(cancelled)}}
        except Failure as failure:
            hint = say(failure.step, _front(request))
            data = {"code": failure.code, "hint": hint}
            answer = {"error": {"code": INVALID_PARAMS, "message": failure.message, "data": data}}
        except RecursionError:
            message = "The request is nested too deeply."
            answer = {"error": {"code": INVALID_PARAMS, "message": message}}
        except Exception as error:  # noqa: BLE001 - one of the two fronts where bugs are caught
            traceback.print_exc()
            answer = {"error": {"code": INTERNAL_ERROR, "message": f"A bug: {error!r}"}}
        with self._lock:
            del self._running[request.id]
        self._send({"jsonrpc": "2.0", "id": request.id, **answer})
        with self._lock:
            self._threads.discard(threading.current_thread())

    def _answer(self, request: Request, cancel: Cancel) -> dict[str, Any]:
        method = self._methods.get(request.method)
        if method is None:
            raise ProtocolError(METHOD_NOT_FOUND, f"There is no method {shorten(request.method)}.")
        return method(request, cancel)

    def _call(self, request: Request, cancel: Cancel) -> dict[str, Any]:
        name = request.params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, f"`name` is {shorten(name)}; it has to be a text.")
        given = request.params.get("arguments")
        try:
            cwd = self._cwd(request)
        except Failure as failure:
            return table.failed(failure, _front(request))
        call = Call(
            cwd,
            cancel,
            lambda text, numbers: self._progress(request, text, numbers),
            _front(request),
        )
        return table.call_tool(self._session, name, given, call)

    def _status(self, request: Request, cancel: Cancel) -> dict[str, Any]:
        return {"text": status.text(self._session, Call(self._cwd(request), cancel))}

    def _overview(self, request: Request, cancel: Cancel) -> dict[str, Any]:
        return overview.to_json(self._session, Call(self._cwd(request), cancel, front=Front.PERSON))

    def _sync(self, request: Request, cancel: Cancel) -> dict[str, Any]:
        dry_run = request.params.get("dry_run", False)
        if not isinstance(dry_run, bool):
            raise InvalidArgument(f"`dry_run` is {shorten(dry_run)}; it has to be true or false.")
        call = Call(self._cwd(request), cancel)
        report = sync(self._session, call, dry_run=dry_run, why=dry_run)
        return {"text": report.render(), "report": report.to_json()}

    def _cwd(self, request: Request) -> Any:
        cwd = request.params.get("cwd")
        if not isinstance(cwd, str):
            raise InvalidArgument(f"`cwd` is {shorten(cwd)}; it has to be a directory's path.")
        return project.working_directory(cwd)

    def _progress(self, request: Request, text: str, numbers: Mapping[str, float]) -> None:
        params = {"id": request.id, "text": text, **numbers}
        self._send({"jsonrpc": "2.0", "method": "progress", "params": params})

    def _cancel(self, request_id: object) -> None:
        with self._lock:
            cancel = self._running.get(request_id) if _is_id(request_id) else None  # type: ignore[call-overload]
        if cancel is not None:
            # In a thread: pressing ends processes, and the next line should not wait for that.
            threading.Thread(target=cancel.press, daemon=True).start()

    def _fail(self, request_id: int | str | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._send({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        data = _encoded(message) + b"\n"
        try:
            with self._write_lock:
                _write_all(self._writer, data)
        except OSError:
            self._cancel_all()  # nobody reads any more

    def _cancel_all(self) -> None:
        with self._lock:
            running = list(self._running.values())
        for cancel in running:
            cancel.press()

    def _end(self) -> None:
        self._cancel_all()
        self._session.close()
        until = time.monotonic() + PATIENCE
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _encoded(message: dict[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a character, which only an escape can say
        return json.dumps(message, separators=(",", ":")).encode()


def _write_all(writer: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[writer.write(view) :]


def _request(line: bytes) -> Request:
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, f"The request is no JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "The request is no object with a method.")
    request_id = message.get("id")
    if "id" in message and not _is_id(request_id):
        raise ProtocolError(INVALID_REQUEST, "The request's id is neither a number nor a text.")
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "The request's params are no object.")
    return Request(request_id, message["method"], params)


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _id_of(line: bytes) -> int | str | None:
    """The id of a bad request, where it has a good one."""
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) and _is_id(found) else None


def _front(request: Request) -> Front:
    """Who reads the answer: a person, where the request says so or nobody else asks such things."""
    if request.method in {"overview", "sync"} or request.params.get("reader") == "person":
        return Front.PERSON
    return Front.MODEL
