"""The operator's secret key, and the keys that are derived from it."""

import hashlib
import hmac
from typing import Annotated

from pydantic import AfterValidator, SecretStr


def _long_enough(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value().encode()) < 32:  # noqa: PLR2004 - the hash's own width
        raise ValueError("the secret key needs at least 32 bytes, e.g. of openssl rand -hex 32")
    return value


SecretKey = Annotated[SecretStr, AfterValidator(_long_enough)]


def derive_key(secret_key: str, purpose: str) -> bytes:
    """Derives 32 bytes for one purpose (HKDF-SHA256, RFC 5869, no salt, one output block)."""
    extracted = hmac.digest(b"\0" * 32, secret_key.encode(), "sha256")
    return hmac.digest(extracted, f"agent-rft/{purpose}".encode() + b"\x01", hashlib.sha256)
