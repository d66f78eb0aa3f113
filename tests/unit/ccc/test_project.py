"""Where ccc keeps things, decided from the disk alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from core_helpers import environment, places
from helpers import POSIX, write_file
from vera_ccc_tools.boot import environments
from vera_ccc_tools.ccc import project
from vera_ccc_tools.ccc.places import INDEX
from vera_ccc_tools.errors import Failure

needs_links = pytest.mark.skipif(not POSIX, reason="links need a right of their own on Windows")


def make_project(root: Path) -> Path:
    write_file(project.settings_path(root), "include_patterns: []\n")
    return root


def test_the_root_is_the_nearest_directory_with_settings(tmp_path: Path) -> None:
    outer = make_project(tmp_path / "outer")
    inner = make_project(outer / "a" / "inner")
    deep = inner / "b" / "c"
    deep.mkdir(parents=True)
    assert project.find_root(deep) == inner
    assert project.find_root(inner) == inner
    assert project.find_root(outer / "a") == outer
    assert project.find_root(tmp_path) is None


def test_a_directory_of_that_name_without_settings_is_no_project(tmp_path: Path) -> None:
    (tmp_path / project.DIRECTORY / project.SETTINGS).mkdir(parents=True)
    assert project.find_root(tmp_path) is None


def test_the_git_root_is_found_by_a_directory_or_a_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    linked = tmp_path / "linked"
    write_file(linked / ".git", "gitdir: /elsewhere\n")
    (linked / "sub").mkdir()
    assert project.find_git_root(linked / "sub") == linked
    assert project.find_git_root(tmp_path) == tmp_path


def test_an_index_is_there_when_its_database_is_and_is_not_empty(tmp_path: Path) -> None:
    assert not places().is_indexed(tmp_path)
    database = write_file(places().index(tmp_path), "")
    assert not places().is_indexed(tmp_path)
    database.write_text("x")
    assert places().is_indexed(tmp_path)


def test_a_database_that_is_kept_elsewhere_is_looked_for_there(tmp_path: Path) -> None:
    root = tmp_path / "code" / "one"
    mapping = f"{tmp_path}/no={tmp_path}/x, {tmp_path}/code={tmp_path}/index"
    environ = environment(COCOINDEX_CODE_DB_PATH_MAPPING=mapping)
    assert places(environ).index(root) == tmp_path / "index" / "one" / INDEX
    for junk in ("", "x", "=", ",,", "=x"):
        environ = environment(COCOINDEX_CODE_DB_PATH_MAPPING=junk)
        assert places(environ).index(root).name == INDEX


def test_the_users_directories_follow_ccc_s_variables(tmp_path: Path, isolated_user: Path) -> None:
    assert places({}).user == isolated_user / ".cocoindex_code"
    theirs = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    assert places(theirs).user == tmp_path / ".cocoindex_code"
    environ = {"COCOINDEX_CODE_DIR": str(tmp_path / "c")}
    assert places(environ).global_settings == tmp_path / "c" / "global_settings.yml"
    assert places(environ).daemon_log == tmp_path / "c" / "daemon.log"
    environ["COCOINDEX_CODE_RUNTIME_DIR"] = str(tmp_path / "r")
    assert places(environ).daemon_log == tmp_path / "r" / "daemon.log"
    assert places(environ).global_settings.parent == tmp_path / "c"


@pytest.mark.parametrize(
    "cwd",
    ["", ".", "relative/x", "/no/such/directory", "/" + "x" * 5000, "/a\0b", "/\ud800", "~"],
)
def test_a_directory_that_cannot_be_used_is_named(cwd: str) -> None:
    with pytest.raises(Failure) as caught:
        project.working_directory(cwd)
    assert caught.value.code == "bad_directory"
    assert caught.value.message.startswith(f"The working directory {cwd[:3]!r}"[:-1])
    assert len(caught.value.message) < 400
    caught.value.message.encode()


@needs_links
def test_a_file_and_a_loop_of_links_are_no_directories(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("file", "loop", "file/sub"):
        with pytest.raises(Failure) as caught:
            project.working_directory(tmp_path / name)
        assert str(tmp_path / name) in caught.value.message


@needs_links
def test_a_directory_by_way_of_a_link_is_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert project.working_directory(tmp_path / "link") == (tmp_path / "real").resolve()


@pytest.mark.skipif(not POSIX, reason="Windows always knows a home directory")
def test_a_user_without_a_home_directory_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd

    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_CACHE_HOME", "COCOINDEX_CODE_DIR"):
        monkeypatch.delenv(name, raising=False)
    write_file(tmp_path / ".git" / "HEAD", "")
    assert project.find_repository(tmp_path) == tmp_path
    assert places({}).user == Path("/.cocoindex_code")
    assert environments.cache_directory().is_relative_to("/")


def test_what_cannot_be_looked_at_is_no_file() -> None:
    assert not project.is_file(Path("/" + "x" * 5000))
    assert not project.is_file(Path("/a\0b"))
    assert project.find_root(Path("/" + "x" * 300)) is None


@needs_links
def test_a_repository_around_a_home_behind_a_link_is_never_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    home = tmp_path / "real" / "home"
    work = home / "work"
    (work / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "link")
    assert project.find_repository(home) is None
    assert project.find_repository(work) == work


@needs_links
def test_a_home_directory_behind_a_link_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "real" / "me"
    (home / "code").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("HOME", str(tmp_path / "link" / "me"))
    for root in (home, home.parent, tmp_path):
        with pytest.raises(Failure, match="home directory"):
            project.check_root(root, home / "code")
    project.check_root(home / "code", home / "code")
    project.check_root(tmp_path / "real" / "you", tmp_path / "real" / "you")
