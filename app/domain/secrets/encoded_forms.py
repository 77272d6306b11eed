"""The forms in which a server may repeat a credential: as it is, and in the usual encodings.

Promises: no form is found by chance, because each is as long as the credential or longer. A
credential that a server splits, encrypts or compresses has none of them. The standard library
alone.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator
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
    sent = value.encode("utf-8", "surrogatepass")
    encoded = quote(sent, safe="")
    yield value
    yield encoded
    yield quote(sent)
    yield quote_plus(sent)
    yield quote(encoded, safe="")
    yield "%" + sent.hex("%")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield escape(value)
    yield sent.hex()
    yield sent.hex(" ")
    yield sent.hex(":")


def base64_of(value: str) -> Iterator[str]:
    """Yields the letters of base64 that the credential alone decides, wherever it begins in the
    text that is encoded; their case counts.
    """
    sent = value.encode("utf-8", "surrogatepass")
    for before in range(3):
        first = -(-8 * before // _BITS)
        last = 8 * (before + len(sent)) // _BITS
        encoded = b64encode(bytes(before) + sent)[first:last]
        yield encoded.decode()
        yield encoded.translate(_URL_SAFE).decode()
        yield quote(encoded, safe="")


def passwords_of(value: str) -> Iterator[str]:
    """Yields user and password, together and the password alone, of the value behind `Basic`."""
    try:
        pair = b64decode(value, validate=True).decode()
    except (NotBase64, ValueError):
        return
    yield pair
    yield pair.partition(":")[2]
