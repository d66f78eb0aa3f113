"""``.cce/config`` is read, and what is wrong in it is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers import POSIX, write_file
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.mcp_server.config import Config, load

DEFAULT = Config(detail="compact", memory_enabled=True)


def config(root: Path, text: str | bytes) -> Config:
    write_file(root / ".cce" / "config", text)
    return load(root)


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == DEFAULT
    (tmp_path / ".cce").mkdir()
    assert load(tmp_path) == DEFAULT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "---\n",
        "retrieval:\nmemory:\n",
        "retrieval: {detail: }\n",
        "memory: {}\n",
    ],
)
def test_a_missing_value_means_its_default(tmp_path: Path, text: str) -> None:
    assert config(tmp_path, text) == DEFAULT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "retrieval:\n  detail: full\nmemory:\n  enabled: false\n",
            Config("full", memory_enabled=False),
        ),
        ("\ufeffretrieval: {detail: 'signature'}\r\n", Config("signature")),
        ('{"memory": {"enabled": false}}', Config(memory_enabled=False)),
        ("mcp: {result_footer: on}\nsync: {auto_pull: true}\nnew: [1]\n", DEFAULT),
    ],
)
def test_what_is_said_holds_and_unknown_keys_do_no_harm(
    tmp_path: Path, text: str, expected: Config
) -> None:
    assert config(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("retrieval: {detail: whole}", "retrieval.detail is 'whole'; it has to be `signature`"),
        ("retrieval: {detail: [full]}", "retrieval.detail is ['full']"),
        ("retrieval: full", "retrieval is 'full'; it has to be keys with values"),
        ("memory: {enabled: off}", "memory.enabled is 'off'; it has to be `true` or `false`"),
        ("memory: {enabled: 1}", "memory.enabled is 1"),
        ("- memory", "the file is ['memory']"),
        ("a: 1\nretrieval: {detail: full\n", "no YAML in line 3"),
        ("memory: {enabled: true}\nmemory: {enabled: false}", "no YAML in line 2: found duplicate"),
        ("a: !!python/object/apply:os.system ['true']", "no YAML in line 1"),
        ("a: 2026-02-31", "day is out of range"),
        ("{a: " * 3000, "no YAML"),
        ("#" * 65_537, "has more than 65,536 bytes"),
        (b"memory: \xff", "can't decode byte 0xff"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(Failure) as caught:
        config(tmp_path, text)
    assert caught.value.code == "config_broken"
    assert told in caught.value.message
    assert str(tmp_path / ".cce" / "config") in caught.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / ".cce" / "config").mkdir(parents=True)
    with pytest.raises(Failure, match=r"config' cannot be read: "):
        load(tmp_path)


def test_where_the_directory_is_a_file_there_are_no_settings(tmp_path: Path) -> None:
    write_file(tmp_path / ".cce", "a file\n")
    assert load(tmp_path) == DEFAULT


@pytest.mark.skipif(not POSIX, reason="Windows has no pipes in directories")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".cce").mkdir()
    os.mkfifo(tmp_path / ".cce" / "config")
    with pytest.raises(Failure, match=r"config' cannot be read: it is no regular file"):
        load(tmp_path)
