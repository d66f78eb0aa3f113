"""A function that runs beside its caller and can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """The caller has stopped the call; nobody waits for its answer."""

    def __str__(self) -> str:
        return "The call was cancelled."


class Cancel:
    """A call's stop button, pressed at most once and from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pressed = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    def press(self) -> None:
        """Stop what runs under this button; later calls under it do not start."""
        with self._lock:
            self._pressed.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @property
    def pressed(self) -> bool:
        return self._pressed.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until pressed, at most *seconds*; say whether it was."""
        return self._pressed.wait(seconds)

    def check(self) -> None:
        """Raise `Cancelled` when pressed."""
        if self.pressed:
            raise Cancelled

    @contextmanager
    def notifying(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call *callback* when the button is pressed inside the block, or was before it."""
        with self._lock:
            self._callbacks.append(callback)
        if self.pressed:
            callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


class Task(Generic[T]):
    """A function in a thread of its own, with its own stop button.

    This process waits at its end for a function that *outlives* its caller.
    """

    def __init__(self, run: Callable[[Cancel], T], *, outlives: bool = False) -> None:
        self.cancel = Cancel()
        self._run = run
        self._ended = Cancel()
        self._value: T | None = None
        self._error: BaseException | None = None
        self._started = time.monotonic()
        threading.Thread(target=self._work, daemon=not outlives).start()

    def _work(self) -> None:
        try:
            self._value = self._run(self.cancel)
        except BaseException as error:  # noqa: BLE001 - handed to the caller of `result`
            _let_go(error)
            self._error = error
        self._ended.press()

    @property
    def done(self) -> bool:
        return self._ended.pressed

    def notifying(self, callback: Callable[[], None]) -> AbstractContextManager[None]:
        """Call *callback* when the function ends inside the block, or did before it."""
        return self._ended.notifying(callback)

    def age(self) -> float:
        return time.monotonic() - self._started

    def wait(self, seconds: float | None, cancel: Cancel) -> bool:
        """Wait for the end, at most *seconds*, and say whether it came."""
        wake = threading.Event()
        with self._ended.notifying(wake.set), cancel.notifying(wake.set):
            wake.wait(None if seconds is None else max(0.0, seconds))
        cancel.check()
        return self.done

    def result(self, cancel: Cancel) -> T:
        """What the function gave; its error is raised here."""
        self.wait(None, cancel)
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def _let_go(error: BaseException | None) -> None:
    """Free what the frames hold in which *error* was raised: it may be megabytes of output."""
    import traceback  # only a failing call pays for it

    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


@contextmanager
def running(run: Callable[[Cancel], T], *, outlives: bool = False) -> Iterator[Task[T]]:
    """A task that is stopped when the block ends before it."""
    task = Task(run, outlives=outlives)
    try:
        yield task
    finally:
        if not task.done:
            task.cancel.press()
