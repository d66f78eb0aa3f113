"""What we read and write in settings.yml, held against what ccc reads there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from settings_texts import TEXTS, settings_texts
from sync_world import Oracle, settings_of
from vera_ccc_tools.sync.settings import read
from vera_ccc_tools.sync.settings_edit import Origin, edit

EXAMPLES = int(os.environ.get("VERA_CCC_HYPOTHESIS_EXAMPLES", "100"))
OURS = ("**/\u00e9 \n\t/**", "{!}x", "\U0001f600", "on", 'q"\\', "#", "12:30", "\x7f\x85\u2028")


@pytest.fixture(scope="module")
def oracle(ccc_python: Path) -> Iterator[Oracle]:
    made = Oracle(ccc_python)
    yield made
    made.close()


def hold(text: str, root: Path, oracle: Oracle) -> None:
    """ccc reads the patterns that we read, before an edit and after it."""
    settings_of(root, text)
    before = read(text)
    include, exclude = oracle.settings(root)
    assert tuple(exclude or ()) == before.excludes
    if before.includes is not None:
        assert tuple(include or ()) == before.includes
    edited = edit(before, {}, OURS, Origin()).text
    settings_of(root, edited)
    after_include, after_exclude = oracle.settings(root)
    assert after_include == include
    assert sorted(after_exclude or ()) == sorted((*before.excludes, *OURS))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_ccc_reads_our_edit_of_every_layout(text: str, tmp_path: Path, oracle: Oracle) -> None:
    hold(text, tmp_path, oracle)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(text=settings_texts())
def test_ccc_reads_our_edit_of_any_file(text: str, tmp_path: Path, oracle: Oracle) -> None:
    hold(text, tmp_path, oracle)
