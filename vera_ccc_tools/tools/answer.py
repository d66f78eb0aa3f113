"""What a tool gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back.

    Attributes:
        text: For the model.
        details: For programs; never shown to the model.
        failed: Whether the call is to be reported as failed.
    """

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
