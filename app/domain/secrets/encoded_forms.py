"""The forms in which a server may repeat a credential: as it is, and in the usual encodings.

Promises: no form is found by chance, because each is as long as the credential or longer. A
credential that a server splits, encrypts or compresses has none of them. The standard library
alone.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator
from contextlib import suppress
from html import escape
from typing import Final
from urllib.parse import quote, quote_plus

_BITS: Final = 6
"""Bits of a character of base64."""
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")


def texts_of(value: str) -> Iterator[str]:
    """Yields the forms of a credential that are compared without regard to case: as it is, and
    encoded for URLs, JSON, HTML and as hexadecimal digits.
    """
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield escape(value)
    for sent in _bytes_of(value):
        encoded = quote(sent, safe="")
        yield encoded
        yield quote(sent)
        yield quote_plus(sent)
        yield quote(encoded, safe="")
        yield "%" + sent.hex("%")
        yield sent.hex()
        for separator in " :-":
            yield sent.hex(separator)


def base64_of(value: str) -> Iterator[str]:
    """Yields the letters of base64 that the credential alone decides, wherever it begins in the
    text that is encoded; their case counts.
    """
    for sent in _bytes_of(value):
        for before in range(3):
            first = -(-8 * before // _BITS)
            last = 8 * (before + len(sent)) // _BITS
            encoded = b64encode(bytes(before) + sent)[first:last]
            yield encoded.decode()
            yield encoded.translate(_URL_SAFE).decode()
            yield quote(encoded, safe="")


def _bytes_of(value: str) -> Iterator[bytes]:
    """Yields the credential in UTF-8, and in Latin-1, which is the encoding of headers."""
    sent = value.encode("utf-8", "surrogatepass")
    yield sent
    if not value.isascii():
        with suppress(UnicodeEncodeError):
            yield value.encode("latin-1")


def passwords_of(value: str) -> Iterator[str]:
    """Yields user and password, together and the password alone, of the value behind `Basic`."""
    padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
    try:
        pair = b64decode(padded, validate=True).decode()
    except (NotBase64, ValueError):
        return
    yield pair
    yield pair.partition(":")[2]
