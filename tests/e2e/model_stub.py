"""A model for Pi: an OpenAI-compatible server that answers by a script and keeps the requests."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asks for next: one tool, or several at once."""

    calls: tuple[tuple[str, Mapping[str, Any]], ...]


def use(name: str, **arguments: Any) -> ToolCall:
    """The model calls one tool."""
    return ToolCall(((name, arguments),))


def use_together(*calls: tuple[str, Mapping[str, Any]]) -> ToolCall:
    """The model calls several tools in one message."""
    return ToolCall(calls)


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model, as it came over the wire."""

    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The whole system prompt."""
        first = self.body["messages"][0]
        assert first["role"] in ("system", "developer")
        return _text(first["content"])

    @property
    def status(self) -> str:
        """The bytes of the ``<ccc-status>`` section, which has to be the last thing."""
        system = self.system
        start = system.rindex("<ccc-status>\n")
        assert system.endswith("\n</ccc-status>"), system[-300:]
        return system[start:]

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools by name: what the model is told of each."""
        return {tool["function"]["name"]: tool["function"] for tool in self.body["tools"]}

    @property
    def tool_result(self) -> str:
        """What the model is told of its last tool call."""
        last = self.body["messages"][-1]
        assert last["role"] == "tool", last
        return _text(last["content"])

    @property
    def tool_results(self) -> list[str]:
        """What the model is told of all its tool calls so far."""
        messages = self.body["messages"]
        return [_text(message["content"]) for message in messages if message["role"] == "tool"]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)


class ModelStub:
    """Serves ``/v1/chat/completions``: the scripted tool calls in order, otherwise a word."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.arrived: queue.Queue[Request] = queue.Queue()
        self._script: queue.Queue[ToolCall | str] = queue.Queue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def say(self, replies: Iterable[ToolCall | str]) -> None:
        """Add to the script; each reply answers one request."""
        for reply in replies:
            self._script.put(reply)

    def reply(self, request: Request) -> Iterator[dict[str, Any]]:
        """Keep a request and stream the next reply of the script."""
        self.requests.append(request)
        self.arrived.put(request)
        try:
            step = self._script.get_nowait()
        except queue.Empty:
            step = "Done."
        if isinstance(step, str):
            yield _chunk({"role": "assistant", "content": step}, None)
            yield _chunk({}, "stop")
            return
        number = len(self.requests)
        calls = [_call(number, index, *call) for index, call in enumerate(step.calls)]
        yield _chunk({"role": "assistant", "content": None, "tool_calls": calls}, None)
        yield _chunk({}, "tool_calls")

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _call(number: int, index: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "index": index,
        "id": f"call_{number}_{index}",
        "type": "function",
        "function": function,
    }


def _chunk(delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    chunk: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    if finish:
        chunk["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return chunk


def _handler(stub: ModelStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for chunk in stub.reply(Request(body)):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Say nothing."""

    return Handler
