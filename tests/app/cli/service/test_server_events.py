"""Messages are read however their bytes are cut; an unfinished line is joined once."""

import pytest

from app.cli.replies import ServerEvent, server_events
from app.cli.terminal import ServiceError
from tests.support.cases import cases

STREAM = b": alive\nevent: step\r\nid: 7\ndata: one\ndata:\xc3\xa9\n\n\ndata: two\n\ndata: lost"


@cases("size", [1, 2, 3, 7, len(STREAM)])
def test_messages_do_not_depend_on_the_chunks(size: int) -> None:
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert list(server_events(chunks)) == [
        ServerEvent(),
        ServerEvent("step", "one\né", "7"),
        ServerEvent("", "two"),
    ]


class Chunk(bytes):
    """Counts the bytes that are copied to put it behind others."""

    copied = 0

    def __radd__(self, before: bytes) -> bytes:
        Chunk.copied += len(before)
        return bytes(before) + bytes(self)


def test_an_unfinished_line_is_not_copied_with_each_chunk() -> None:
    line = [Chunk(b"x" * 100) for _ in range(100)]
    (read,) = server_events([b"data: ", *line, b"\n\n"])
    assert read.data == "x" * 10_000
    assert Chunk.copied == 0


def test_a_line_without_an_end_is_refused() -> None:
    with pytest.raises(ServiceError, match="no end of a message"):
        list(server_events(b"x" * 1024**2 for _ in range(17)))
