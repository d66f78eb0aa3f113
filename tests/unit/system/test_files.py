"""Files told apart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers import POSIX
from vera_ccc_tools.system.files import identity


def test_an_identity_stays_until_the_file_is_written_replaced_or_removed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert identity(path) is None
    path.write_text("one")
    first = identity(path)
    assert first is not None
    assert first == identity(str(path)) == identity(os.fsencode(path))
    assert first.size == 3
    path.write_text("three")
    second = identity(path)
    assert second != first
    other = tmp_path / "other"
    other.write_text("three")
    other.replace(path)
    assert identity(path) != second
    path.unlink()
    assert identity(path) is None
    assert identity("a\0b") is None


@pytest.mark.skipif(not POSIX, reason="links need a privilege on Windows")
def test_a_link_has_the_identity_of_its_target_or_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    assert identity(tmp_path / "link") == identity(tmp_path / "file")
    assert identity(tmp_path / "link", follow=False) != identity(tmp_path / "file")
