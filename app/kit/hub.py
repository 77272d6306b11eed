"""The fault of a data set that cannot be read."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
from typing_extensions import Buffer, override

from app.kit.errors import AgentRftError


class DataSetFault(ValueError):
    """A data set that cannot be read. The text is a clause for the author of the request."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_BROKE_OFF: Final = "the hub broke off"


class HubContent(io.RawIOBase):
    """Reads a file through the hub's library, in blocks of a size."""

    def __init__(self, files: Any, path: str, block_bytes: int) -> None:
        super().__init__()
        with as_unavailable(_BROKE_OFF):
            self._file = files.open(path, "rb", block_size=block_bytes)

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        with as_unavailable(_BROKE_OFF):
            return int(self._file.readinto(buffer))

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return int(self._file.seek(offset, whence))

    @override
    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


@contextmanager
def as_unavailable(message: str) -> Iterator[None]:
    """Raises `DataSetFault` for whatever the hub's library raises, and passes on the guard's."""
    try:
        yield
    except (AgentRftError, DataSetFault):
        raise
    # Errors of HTTP are no OSError, and an answer of another shape breaks the library anywhere.
    except (
        *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError),
        *(TypeError, LookupError, AttributeError),
    ) as error:
        raise DataSetFault("hub_unavailable", message) from error
