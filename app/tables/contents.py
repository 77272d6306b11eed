"""Opens the content of a file: one of this machine, one that is fetched as it is read, or one in
memory.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from app.gateways.hub.data_sets import HubFile


@dataclass(frozen=True, slots=True)
class HeldContent:
    """Holds the content of a small file in memory."""

    content: bytes

    def open(self, _mode: str = "rb") -> BinaryIO:
        return io.BytesIO(self.content)


Content = Path | HubFile | HeldContent


def bytes_of(content: Content) -> BinaryIO:
    return content.open("rb")


def text_of(content: Content, encoding: str) -> TextIO:
    """Opens a text whose line feeds stay as they are."""
    return io.TextIOWrapper(bytes_of(content), encoding=encoding, newline="")
