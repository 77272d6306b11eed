"""Digests of API keys' secrets, as rows store them: a fingerprint of the HMAC key (8 bytes) and the
HMAC.

Rows of earlier versions have only the HMAC, under any of the keys.
"""

import hashlib
import hmac
from typing import Final

_FINGERPRINT_BYTES: Final = 8
_HMAC_BYTES: Final = 32


class KeyDigests:
    def __init__(self, newest: bytes, *older: bytes) -> None:
        self._keys = {_fingerprint(key): key for key in (*older, newest)}
        self.rotates = bool(older)
        self.head = _fingerprint(newest)
        """The beginning of every digest under the newest key."""

    def of(self, secret: str) -> bytes:
        """Returns the digest under the newest key."""
        return self.head + _hmac(self._keys[self.head], secret)

    def is_current(self, digest: bytes) -> bool:
        return len(digest) > _HMAC_BYTES and digest.startswith(self.head)

    def belongs(self, digest: bytes, secret: str) -> bool:
        """Returns whether the digest belongs to the secret, under any of the keys."""
        if len(digest) == _HMAC_BYTES:
            keys, stored = list(self._keys.values()), digest
        else:
            key = self._keys.get(digest[:_FINGERPRINT_BYTES])
            keys, stored = [key] if key is not None else [], digest[_FINGERPRINT_BYTES:]
        return any(hmac.compare_digest(stored, _hmac(key, secret)) for key in keys)


def _hmac(key: bytes, secret: str) -> bytes:
    return hmac.digest(key, b"api-key:" + secret.encode(), hashlib.sha256)


def _fingerprint(key: bytes) -> bytes:
    return hashlib.sha256(b"key-id" + key).digest()[:_FINGERPRINT_BYTES]
