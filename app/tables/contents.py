"""Opens the content of a file: one of this machine, or one that is fetched as it is read."""

import io
from pathlib import Path
from typing import BinaryIO, TextIO

from app.gateways.hub.data_sets import HubFile

Content = Path | HubFile


def bytes_of(content: Content) -> BinaryIO:
    return content.open("rb")


def text_of(content: Content, encoding: str) -> TextIO:
    """Opens a text whose line feeds stay as they are."""
    return io.TextIOWrapper(bytes_of(content), encoding=encoding, newline="")
