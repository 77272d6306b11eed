"""The operator's secret key, and the keys that are derived from it."""

import hashlib
import hmac
from typing import Annotated, Final

from pydantic import AfterValidator, SecretStr

_LEAST_BYTES: Final = 32
"""Smallest length of a key: the width of the hash."""


def long_enough(secret_key: str) -> str:
    """Returns the key. Raises `ValueError` for one that is shorter than the hash."""
    if len(secret_key.encode()) < _LEAST_BYTES:
        raise ValueError(
            f"the secret key needs at least {_LEAST_BYTES} bytes, e.g. of openssl rand -hex 32"
        )
    return secret_key


def _long_enough(value: SecretStr) -> SecretStr:
    long_enough(value.get_secret_value())
    return value


SecretKey = Annotated[SecretStr, AfterValidator(_long_enough)]


def derive_key(secret_key: str, purpose: str) -> bytes:
    """Derives 32 bytes for one purpose (HKDF-SHA256, RFC 5869, no salt, one output block)."""
    extracted = hmac.digest(b"\0" * 32, secret_key.encode(), "sha256")
    return hmac.digest(extracted, f"agent-rft/{purpose}".encode() + b"\x01", hashlib.sha256)
