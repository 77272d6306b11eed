import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kit.sealing import SecretBox, SecretsUnreadable

KEY, NEW_KEY = "a first key of at least 32 bytes ....", "a second key of at least 32 bytes ..."
HEADERS = {"tool:search": {"Authorization": "Bearer canary-1"}, "grader:g": {"X-Key": "canary-2"}}
ROW = {"project_id": "proj_a", "row_id": "ftjob-1"}


def test_what_is_sealed_opens_for_its_row_and_shows_nothing() -> None:
    box = SecretBox(KEY)
    blob = box.seal(HEADERS, **ROW)
    assert box.open(blob, **ROW) == HEADERS
    assert b"canary" not in blob
    assert b"Authorization" not in blob
    assert box.seal(HEADERS, **ROW) != blob


@pytest.mark.parametrize(
    "row",
    [
        {"project_id": "proj_b", "row_id": "ftjob-1"},
        {"project_id": "proj_a", "row_id": "ftjob-2"},
        {"project_id": "proj_", "row_id": "aftjob-1"},
    ],
)
def test_a_blob_moved_to_another_row_does_not_open(row: dict[str, str]) -> None:
    blob = SecretBox(KEY).seal(HEADERS, **ROW)
    with pytest.raises(SecretsUnreadable):
        SecretBox(KEY).open(blob, **row)
    with pytest.raises(SecretsUnreadable):
        SecretBox(KEY).rewrap(blob, **row)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_changed_bit_or_length_does_not_open(data: st.DataObject) -> None:
    blob = bytearray(SecretBox(KEY).seal(HEADERS, **ROW))
    if data.draw(st.booleans()):
        position = data.draw(st.integers(0, len(blob) - 1))
        blob[position] ^= 1 << data.draw(st.integers(0, 7))
    else:
        blob = blob[: data.draw(st.integers(0, len(blob) - 1))]
    with pytest.raises(SecretsUnreadable):
        SecretBox(KEY).open(bytes(blob), **ROW)


def test_keys_are_rotated_without_a_gap() -> None:
    old, rotated = SecretBox(KEY), SecretBox(NEW_KEY, older_keys=(KEY,))
    blob = old.seal(HEADERS, **ROW)
    assert rotated.open(blob, **ROW) == HEADERS
    assert not blob.startswith(rotated.head)
    moved = rotated.rewrap(blob, **ROW)
    assert moved.startswith(rotated.head)
    assert SecretBox(NEW_KEY).open(moved, **ROW) == HEADERS
    assert rotated.seal(HEADERS, **ROW).startswith(SecretBox(NEW_KEY).head)
    with pytest.raises(SecretsUnreadable, match="not configured"):
        SecretBox(NEW_KEY).open(blob, **ROW)
    with pytest.raises(SecretsUnreadable, match="not configured"):
        old.open(moved, **ROW)
