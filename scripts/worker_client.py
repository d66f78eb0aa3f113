"""A client of the worker, as small as one can be: requests one after another, over its streams."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from report import StepFailed

BOOTSTRAP = Path(__file__).resolve().parent.parent / "vera_ccc_tools" / "bootstrap.py"
END_SECONDS = 10.0
"""How long the worker may take to end after its input has closed."""


class Worker:
    """The worker, or what another *verb* starts, by `bootstrap.py`; ended by `close`."""

    def __init__(self, environ: Mapping[str, str], cwd: Path, verb: str = "worker") -> None:
        self._cwd = cwd
        self._last = 0
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, str(BOOTSTRAP), verb],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            start_new_session=os.name == "posix",  # Ctrl-C is for the script, which ends us
        )
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process that serves; `bootstrap.py` has become it."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def request(
        self,
        method: str,
        params: Mapping[str, Any],
        deadline: float = 60.0,
        progress: Callable[[str], None] = lambda _text: None,
    ) -> dict[str, Any]:
        """Send a request and wait for its result, at most *deadline* seconds between signs of life.

        Raises:
            StepFailed: the worker ended, was silent for too long, or answered with an error.
        """
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method}
        line = json.dumps({**request, "params": {"cwd": str(self._cwd), **params}})
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
            return self._await(deadline, progress)
        except OSError as error:
            raise StepFailed(f"the worker has ended: {error}") from error
        except queue.Empty:
            raise StepFailed(f"no answer within {deadline:.0f} s") from None

    def _await(self, deadline: float, progress: Callable[[str], None]) -> dict[str, Any]:
        while True:
            message = self._answers.get(timeout=deadline)
            if message is None:
                raise StepFailed("the worker has ended")
            if message.get("method") == "progress":
                progress(message["params"]["text"])
            elif message.get("id") == self._last:
                if "error" in message:
                    raise StepFailed(message["error"]["message"])
                return dict(message["result"])

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        deadline: float = 60.0,
        progress: Callable[[str], None] = lambda _text: None,
    ) -> dict[str, Any]:
        """Call a tool; like `request`, and a result that is a failure is one here too."""
        params = {"name": tool, "arguments": arguments}
        result = self.request("tools/call", params, deadline, progress)
        if result["isError"]:
            raise StepFailed(result["content"][0]["text"])
        return result

    def cancel(self) -> None:
        """Cancel the request that is waited for, from another thread; it then fails."""
        self.notify("cancel", {"id": self._last})

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send what is not answered."""
        note = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(note).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """Close the worker's input and see it end."""
        with self._process as process:
            assert process.stdin is not None
            try:
                process.stdin.close()
                process.wait(END_SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
                raise StepFailed("the worker does not end when its input closes") from None
