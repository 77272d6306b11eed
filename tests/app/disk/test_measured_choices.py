"""Kept choices of a machine, read from a directory that anything may have written to."""

from pathlib import Path

import pytest

from app.models.compute import measured_choice, measured_choices


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"choice": 1}', b"\x00" * 9])
def test_a_file_that_cannot_be_read_counts_as_absent(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "trainer.json").write_bytes(content)
    assert measured_choice(tmp_path / "trainer.json") is None
    assert measured_choices(tmp_path) == []
    assert measured_choice(tmp_path / "none.json") is None
