"""The real Pi as a test uses it: one prompt to its end, or a session over its RPC mode."""

from __future__ import annotations

import json
import os
import queue
import re
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from e2e.model_stub import ModelStub

SECONDS = 60
"""The bound of anything that is waited for here."""
_ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=]*[A-Za-z]|[\]_P][^\x07\x1b]*(\x07|\x1b\\\\))")
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pi:
    """A Pi of one version with an agent directory of its own, which loads this repository.

    Attributes:
        version: ``1.6.0`` or ``0.74.2``.
        command: Node and the command line.
        agent: The agent directory; its path marks every process of this Pi.
        model: The model that it asks.
        env: The environment of the user.
    """

    version: str
    command: tuple[str, ...]
    agent: Path
    model: ModelStub
    env: dict[str, str] = field(repr=False)

    def configure(self, package: Path, *extensions: Path) -> None:
        """Write the agent directory: which package and extensions to load, and the model."""
        self.agent.mkdir(parents=True, exist_ok=True)
        settings = {
            "packages": [str(package)],
            "extensions": [str(extension) for extension in extensions],
            "retry": {"enabled": False},
        }
        (self.agent / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        self.configure_model()

    def configure_model(self) -> None:
        provider = {
            "baseUrl": self.model.url,
            "api": "openai-completions",
            "apiKey": "x",
            "models": [{"id": "fake-1"}],
        }
        (self.agent / "models.json").write_text(
            json.dumps({"providers": {"fake": provider}}), encoding="utf-8"
        )

    def argv(self, *arguments: str) -> list[str]:
        return [*self.command, "--model", "fake/fake-1", "--no-session", *arguments]

    def environ(self) -> dict[str, str]:
        return self.env | {
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        }

    def print(self, prompt: str, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one prompt in print mode to its end, which has to come by itself."""
        return self.run([*arguments, "-p", prompt], cwd)

    def run(self, arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*arguments),
            cwd=cwd,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    def start(self, arguments: list[str], cwd: Path) -> subprocess.Popen[bytes]:
        """Start Pi in a session of its own, as a terminal would, with pipes."""
        return subprocess.Popen(
            self.argv(*arguments),
            cwd=cwd,
            env=self.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    @contextmanager
    def rpc(self, cwd: Path) -> Iterator[Session]:
        """A session over RPC; at the end its stdin is closed and Pi has to end by itself."""
        with self.start(["--mode", "rpc"], cwd) as process:
            session = Session(process)
            try:
                yield session
                session.close()
            finally:
                process.kill()

    def show(self, prompt: str, cwd: Path, wanted: str) -> str:
        """Give *prompt* in the terminal, and return what it shows once *wanted* is there."""
        import fcntl  # POSIX only, as this is
        import pty
        import struct
        import termios

        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 50, 120, 0, 0))
        env = self.environ() | {"TERM": "xterm-256color"}
        process = subprocess.Popen(
            self.argv(prompt),
            cwd=cwd,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        try:
            return _read_until(master, wanted)
        finally:
            process.terminate()
            os.close(master)
            _end(process)

    def processes(self, *words: str) -> list[psutil.Process]:
        """The processes that this Pi has started, but the daemon of ccc; with *words* in argv."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("PI_CODING_AGENT_DIR") == str(self.agent)
                command = process.cmdline()
            except psutil.Error:
                continue
            if ours and "run-daemon" not in command and all(word in command for word in words):
                found.append(process)
        return found


class Session:
    """One RPC session: commands in, records out, each wait bounded."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.process = process
        self._stdin = process.stdin
        self._records: queue.Queue[Event | None] = queue.Queue()
        self.seen: list[Event] = []
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stdout: IO[bytes]) -> None:
        rest = b""
        while block := stdout.read(65536):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self._records.put(json.loads(line))
        self._records.put(None)

    def send(self, command: str, **parameters: Any) -> None:
        record = {"type": command, **parameters}
        self._stdin.write(json.dumps(record).encode() + b"\n")

    def wait(self, matches: Callable[[Event], bool], what: str) -> Event:
        """The next record that matches; a session that ends first fails the test."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                record = self._records.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {what} within {SECONDS} s: {self.seen[-5:]}") from None
            assert record is not None, f"Pi ended before {what}: {self.seen[-5:]}"
            self.seen.append(record)
            if matches(record):
                return record

    def event(self, kind: str) -> Event:
        return self.wait(lambda record: record.get("type") == kind, kind)

    def request(self, command: str, **parameters: Any) -> Event:
        """Send a command and wait for its response, which has to be a success."""
        self.send(command, **parameters)
        response = self.wait(
            lambda record: record.get("type") == "response" and record["command"] == command,
            f"response to {command}",
        )
        assert response["success"], response
        return response

    def prompt(self, text: str) -> None:
        """Prompt and wait until the agent's run has ended."""
        self.request("prompt", message=text)
        self.event("agent_end")

    def close(self) -> None:
        self._stdin.close()
        assert self.process.wait(SECONDS) == 0
        self._reader.join(SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, and bring it about when it does not come."""
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _read_until(terminal: int, wanted: str) -> str:
    """What a terminal shows, without its escapes, up to *wanted*; fail when it does not come."""
    end = time.monotonic() + SECONDS
    seen = b""
    while wanted not in (text := _ESCAPES.sub("", seen.decode(errors="replace"))):
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"no {wanted!r} within {SECONDS} s: {text[-2000:]}"
        seen += os.read(terminal, 65536)
    return text


def until(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait until *condition* gives something true, and return it; fail after *seconds*."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        pause.wait(0.02)
    return found


def merged(env: Mapping[str, str], **changes: str) -> dict[str, str]:
    """An environment with changes; an empty value removes a variable."""
    return {name: value for name, value in {**env, **changes}.items() if value}
