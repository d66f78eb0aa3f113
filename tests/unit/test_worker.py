"""The worker's protocol: each request exactly one answer, whatever else comes in."""

from __future__ import annotations

import io
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core_helpers import make_project, until
from vera_ccc_tools import worker
from vera_ccc_tools.system.call import Call
from vera_ccc_tools.system.tasks import Cancel, Cancelled
from vera_ccc_tools.tools import table
from vera_ccc_tools.tools.session import Session
from vera_ccc_tools.worker import Worker


def answers_to(data: bytes) -> list[dict[str, Any]]:
    """What a worker writes for the input *data*, until it ends with it."""
    written = io.BytesIO()
    Worker(io.BytesIO(data), written, Session({})).serve()
    lines = written.getvalue().split(b"\n")
    assert lines.pop() == b""
    return [json.loads(line) for line in lines]


def request(method: str, request_id: object = 1, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


class Client:
    """The other end of a worker that runs in a thread; its methods can be added to."""

    def __init__(self) -> None:
        reading, self._write = os.pipe()
        self._read, writing = os.pipe()
        self._input: BinaryIO = os.fdopen(self._write, "wb", buffering=0)
        self._output: BinaryIO = os.fdopen(self._read, "rb")
        self._ends = os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0)
        self.worker = Worker(*self._ends, Session({}))
        self.thread = threading.Thread(target=self.worker.serve)
        self.thread.start()

    def method(self, name: str, run: Callable[[Cancel], dict[str, Any]]) -> None:
        self.worker._methods[name] = lambda _request, cancel: run(cancel)

    def send(self, data: bytes) -> None:
        self._input.write(data)

    def read(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._output.readline())
        return answer

    def close(self) -> None:
        self._input.close()
        self.thread.join(5)
        for stream in (*self._ends, self._output):
            stream.close()
        assert not self.thread.is_alive()


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.close()


def waiting(cancel: Cancel) -> dict[str, Any]:
    assert cancel.wait(30)
    raise Cancelled


def test_the_tools_are_listed() -> None:
    (answer,) = answers_to(request("tools/list", "first"))
    assert answer == {"jsonrpc": "2.0", "id": "first", "result": table.listing()}


def test_an_overview_and_a_dry_sync_of_a_directory_are_answered(
    client: Client, tmp_path: Path
) -> None:
    def ask(method: str, **params: Any) -> dict[str, Any]:
        client.send(request(method, **params))
        return client.read()

    root = make_project(tmp_path / "p", indexed=False)
    assert ask("overview", cwd=str(root))["result"]["root"] == str(root)
    before = (root / ".cocoindex_code" / "settings.yml").read_bytes()
    result = ask("sync", cwd=str(root), dry_run=True)["result"]
    assert result["text"].startswith("exclude_patterns unchanged: 0 added")
    assert result["report"]["entries"] == {"count": 0, "reasons": []}
    assert ask("sync", cwd=str(root))["result"]["report"]["entries"] is None
    assert (root / ".cocoindex_code" / "settings.yml").read_bytes() == before
    error = ask("sync", cwd=str(tmp_path))["error"]
    assert error["data"]["code"] == "not_initialized"
    assert error["data"]["hint"]


def test_a_last_line_without_its_end_is_a_request_too() -> None:
    (answer,) = answers_to(request("tools/list").rstrip())
    assert answer["id"] == 1


def test_a_notification_and_an_empty_line_are_not_answered() -> None:
    silent = b'\n  \n\r\n{"method":"tools/list"}\n{"method":"nothing"}\n'
    assert answers_to(silent + b'{"method":"cancel","params":{"id":7}}\n') == []


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"garbage", None, worker.PARSE_ERROR),
        (b"\xff\xfe", None, worker.PARSE_ERROR),
        (b'{"id":1,"method":"tools/list"', None, worker.PARSE_ERROR),
        (b"[" * 100_000, None, worker.PARSE_ERROR),
        (b"9" * 5000, None, worker.PARSE_ERROR),
        (b"null", None, worker.INVALID_REQUEST),
        (b'[{"id":1,"method":"tools/list"}]', None, worker.INVALID_REQUEST),
        (b'{"id":1}', 1, worker.INVALID_REQUEST),
        (b'{"id":1,"method":5}', 1, worker.INVALID_REQUEST),
        (b'{"id":null,"method":"tools/list"}', None, worker.INVALID_REQUEST),
        (b'{"id":true,"method":"tools/list"}', None, worker.INVALID_REQUEST),
        (b'{"id":1.5,"method":"tools/list"}', None, worker.INVALID_REQUEST),
        (b'{"id":[1],"method":"tools/list"}', None, worker.INVALID_REQUEST),
        (b'{"id":{},"method":"tools/list"}', None, worker.INVALID_REQUEST),
        (b'{"id":"x","method":"nothing"}', "x", worker.METHOD_NOT_FOUND),
        (b'{"id":1,"method":"tools/list","params":[]}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"tools/call"}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"tools/call","params":{"name":5}}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"tools/call","params":{"name":"x"}}', 1, None),
        (b'{"id":1,"method":"status"}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"overview"}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"sync","params":{"dry_run":1}}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"status","params":{"cwd":"x"}}', 1, worker.INVALID_PARAMS),
        (b'{"id":1,"method":"status","params":{"cwd":"/no/such"}}', 1, worker.INVALID_PARAMS),
    ],
)
def test_a_bad_line_is_answered_once_and_the_next_one_as_ever(
    line: bytes, request_id: object, code: int | None
) -> None:
    answers = answers_to(line + b"\n" + request("tools/list", "next"))
    assert sorted(str(answer["id"]) for answer in answers) == sorted([str(request_id), "next"])
    (bad,) = (answer for answer in answers if answer["id"] != "next")
    if code is None:
        assert bad["result"]["isError"]
    else:
        assert bad["error"]["code"] == code
        assert 0 < len(bad["error"]["message"]) < 300


def test_a_request_that_is_too_long_is_refused_and_passed_over() -> None:
    long = request("tools/call", 1, name="x" * worker.MAX_LINE)
    answers = answers_to(long + request("tools/list", 2))
    assert [answer["id"] for answer in answers] == [None, 2]
    assert "longer than 8,388,608 bytes" in answers[0]["error"]["message"]


def test_an_argument_of_three_megabytes_is_one_sentence(client: Client, tmp_path: Any) -> None:
    given_values = {"query": "x" * 3_000_000}
    params = {"name": "ccc_search", "arguments": given_values, "cwd": str(tmp_path)}
    client.send(request("tools/call", 1, **params))
    text = client.read()["result"]["content"][0]["text"]
    assert text.startswith("`query` has 3,000,000 characters")
    assert len(text) < 300


@pytest.mark.parametrize(
    "request_id", [0, -1, 2**60, 10**400, "", "x" * 10_000, "日本", "a\u2028b\n", "half \ud800"]
)
def test_an_id_comes_back_as_it_went(request_id: object) -> None:
    (answer,) = answers_to(request("tools/list", request_id))
    assert answer["id"] == request_id


def test_deeply_nested_arguments_are_no_bug(client: Client, tmp_path: Any) -> None:
    nested: Any = "x"
    for _ in range(600):
        nested = [nested]
    params = {"name": "ccc_search", "arguments": {"query": nested}, "cwd": str(tmp_path)}
    client.send(request("tools/call", 1, **params))
    answer = client.read()
    assert "bug" not in str(answer)
    assert "cancelled" not in str(answer)


def test_line_separators_stay_inside_their_line(client: Client) -> None:
    text = "a\u2028b\u2029c\u0085d\re\x0bf"
    client.method("text", lambda _cancel: {"text": text})
    client.send(request("text"))
    assert client.read()["result"]["text"] == text


def test_a_slow_call_does_not_hold_up_a_fast_one(client: Client) -> None:
    client.method("slow", waiting)
    client.send(request("slow", 1) + request("tools/list", 2))
    assert client.read()["id"] == 2
    client.send(b'{"method":"cancel","params":{"id":1}}\n')
    answer = client.read()
    assert (answer["id"], answer["error"]["code"]) == (1, worker.CANCELLED)


def test_an_id_that_is_under_way_is_refused_and_free_again_afterwards(client: Client) -> None:
    client.method("slow", waiting)
    client.send(request("slow", 1) + request("slow", 1))
    assert client.read()["error"]["code"] == worker.INVALID_REQUEST
    client.send(b'{"method":"cancel","params":{"id":1}}\n')
    assert client.read()["error"]["code"] == worker.CANCELLED
    client.send(request("tools/list", 1))
    assert "result" in client.read()


def test_the_ids_1_and_the_text_1_are_two(client: Client) -> None:
    client.method("slow", waiting)
    client.send(request("slow", 1) + request("slow", "1"))
    for request_id in ("1", 1):
        cancel = {"method": "cancel", "params": {"id": request_id}}
        client.send(json.dumps(cancel).encode() + b"\n")
        assert client.read()["id"] == request_id


def test_a_cancel_of_what_is_no_request_does_nothing(client: Client) -> None:
    for request_id in ("99", "null", "true", "[1]", "{}", "1.5"):
        cancel = {"method": "cancel", "params": {"id": json.loads(request_id)}}
        client.send(json.dumps(cancel).encode() + b"\n")
    client.send(b'{"method":"cancel"}\n' + request("tools/list", 1))
    assert "result" in client.read()


def test_more_calls_than_are_carried_out_at_once_are_refused(client: Client) -> None:
    client.method("slow", waiting)
    for number in range(worker.MAX_CALLS + 3):
        client.send(request("slow", number))
    refused = [client.read() for _ in range(3)]
    assert {answer["error"]["code"] for answer in refused} == {worker.INVALID_REQUEST}
    assert {answer["id"] for answer in refused} == {64, 65, 66}


def test_a_bug_is_answered_as_one_and_told_on_standard_error(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_cancel: Cancel) -> dict[str, Any]:
        raise KeyError("oops")

    client.method("broken", broken)
    client.send(request("broken"))
    answer = client.read()
    assert answer["error"]["code"] == worker.INTERNAL_ERROR
    assert "oops" in answer["error"]["message"]
    assert "Traceback" in capsys.readouterr().err


def test_progress_names_its_request(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def call_tool(_session: Session, name: str, _given: object, call: Call) -> dict[str, Any]:
        call.progress("half\nway", {"done": 3})
        return {"name": name}

    monkeypatch.setattr(table, "call_tool", call_tool)
    client.send(request("tools/call", 5, name="x", arguments={}, cwd=str(tmp_path)))
    params = {"id": 5, "text": "half\nway", "done": 3}
    progress = {"jsonrpc": "2.0", "method": "progress", "params": params}
    assert client.read() == progress
    assert client.read()["result"] == {"name": "x"}


def test_the_end_of_the_input_cancels_what_still_runs() -> None:
    client = Client()
    client.method("slow", waiting)
    client.send(request("slow", 1) + request("slow", 2))
    until(lambda: len(client.worker._running) == 2)
    client.close()
    assert client.worker._running == {}


def test_an_output_that_nobody_reads_ends_what_runs() -> None:
    class Broken(io.RawIOBase):
        def write(self, _data: Any) -> int:
            raise BrokenPipeError

    Worker(io.BytesIO(request("tools/list") * 3), Broken(), Session({})).serve()  # type: ignore[arg-type]


IDS = st.one_of(st.integers(), st.text(max_size=8), st.just("\ud83d"))
ODD: st.SearchStrategy[Any] = st.sampled_from([None, True, 1.5, [], {}])
PARAMS = st.dictionaries(st.sampled_from(["name", "arguments", "cwd", "id"]), st.text() | ODD)


def _line(message: object) -> bytes:
    return json.dumps(message).encode()


CALLS = st.builds(
    lambda request_id, method, params: (
        request_id,
        _line({"id": request_id, "method": method, "params": params}),
    ),
    IDS,
    st.sampled_from(["tools/list", "tools/call", "status", "nothing", ""]),
    PARAMS,
)
NOTES = st.builds(
    lambda method, params: (..., _line({"method": method, "params": params})),
    st.sampled_from(["cancel", "tools/list", "x"]),
    PARAMS,
)
BAD = st.one_of(
    st.binary(min_size=1).filter(
        lambda data: b"\n" not in data and data.strip() != b"" and not data.strip().isdigit()
    ),
    st.builds(lambda value: _line({"id": value, "method": "tools/list"}), ODD),
    st.sampled_from([b"[]", b"{}", b"1", b'"x"', b'{"method":1}', b'{"method":"x","params":1}']),
).map(lambda data: (None, data))


@given(st.lists(st.one_of(CALLS, NOTES, BAD), max_size=12))
def test_whatever_comes_in_each_request_has_one_answer(frames: list[tuple[Any, bytes]]) -> None:
    answers = answers_to(b"".join(data + b"\n" for _, data in frames))
    asked = Counter(repr(request_id) for request_id, _ in frames if request_id is not ...)
    assert Counter(repr(answer["id"]) for answer in answers) == asked
    for answer in answers:
        assert ("result" in answer) != ("error" in answer)
        assert "A bug" not in str(answer)
