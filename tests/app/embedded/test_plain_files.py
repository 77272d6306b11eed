"""Backups with links, pipes, sockets or devices in place of plain files: each is refused."""

import os
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.embedded.backups import OBJECT, packed, with_objects

Change = Callable[[Path], None]


def replaced(name: str, make: Callable[[Path], object]) -> Change:
    def change(backup: Path) -> None:
        path = backup / name
        path.rename(backup.parent / "kept")
        make(path)

    return change


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def _link_to_the_same(path: Path) -> None:
    """A link to the very content that the manifest promises."""
    [kept] = [each for each in path.parents if (each / "kept").exists()]
    path.symlink_to(kept / "kept")


@pytest.mark.parametrize("name", ["manifest.json", "database.dump", "objects.tar"])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(_link_to_the_same, "is a link", id="same"),
        pytest.param(os.mkfifo, "is a pipe", id="pipe"),
        pytest.param(_socket, "", id="socket"),
        pytest.param(Path.mkdir, "", id="directory"),
    ],
)
def test_anything_but_a_plain_file_is_refused(
    backup: Path,
    refused: Callable[..., str],
    name: str,
    make: Callable[[Path], object],
    reason: str,
) -> None:
    """A pipe that nobody writes to does not hang the command either."""
    replaced(name, make)(backup)
    said = refused()
    assert reason in said
    assert Path(name).name in said


def test_a_pipe_or_a_link_beside_the_files_is_refused(
    backup: Path, refused: Callable[..., str]
) -> None:
    os.mkfifo(backup / "extra")
    assert "extra is a pipe" in refused()
    (backup / "extra").unlink()
    (backup / "extra").symlink_to("/dev")
    assert "extra is a link" in refused()
    (backup / "extra").unlink()
    (backup / "extra").mkdir()
    assert "extra is a directory" in refused()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_anything_but_a_file_in_the_archive_is_refused(
    backup: Path, refused: Callable[..., str], kind: bytes
) -> None:
    with_objects(backup, packed((OBJECT, b""), kind=kind))
    assert f"'{OBJECT}', which is not a file of a backup" in refused()


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/etc/passwd"])
def test_a_name_in_the_archive_that_leaves_the_directory_is_refused(
    backup: Path, refused: Callable[..., str], name: str
) -> None:
    with_objects(backup, packed((OBJECT, b"content"), (name, b"x")))
    assert "which is not a file of a backup" in refused()
    assert not (backup.parent / "outside").exists()


def test_an_archive_with_one_name_twice_or_without_archive_is_refused(
    backup: Path, refused: Callable[..., str]
) -> None:
    with_objects(backup, packed((OBJECT, b"1"), (OBJECT, b"2")))
    assert "File exists" in refused()
    with_objects(backup, b"no archive")
    assert "objects.tar cannot be read" in refused()
