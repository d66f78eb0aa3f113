"""A worker in a process of its own, as the tests talk to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Running:
    """A worker in a process, and the two ends of its pipes."""

    def __init__(self, environ: Mapping[str, str], *start: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *(start or ("-m", "vera_ccc_tools", "worker"))],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stderr = bytearray()
        self._drain = threading.Thread(target=self._read_errors)
        self._drain.start()
        self._number = 0

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while block := os.read(self.process.stderr.fileno(), 65536):
            self.stderr += block

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> int:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        return self._number

    def search(self, cwd: Path, query: str) -> int:
        given = {"query": query, "refresh_index": False}
        return self.request("tools/call", name="ccc_search", arguments=given, cwd=str(cwd))

    def read(self) -> dict[str, Any]:
        """The next answer; progress is passed over."""
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "method" not in message:
                return message

    def close(self) -> float:
        """Close its input; the seconds until it has ended."""
        assert self.process.stdin is not None
        started = time.monotonic()
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        return time.monotonic() - started

    def clear(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self._drain.join(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def start(running: list[Running], environ: Mapping[str, str], *arguments: str) -> Running:
    running.append(Running(environ, *arguments))
    return running[-1]


def text_of(message: dict[str, Any]) -> str:
    return str(message["result"]["content"][0]["text"])
