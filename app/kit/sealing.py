"""Envelope encryption of customers' secrets at rest, bound to the row that they belong to."""

import hashlib
import json
import os
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.kit.errors import SecretsLost
from app.settings import Settings

_VERSION: Final = b"\x01"
_FINGERPRINT_BYTES: Final = 8
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_WRAPPED_BYTES: Final = _NONCE_BYTES + _KEY_BYTES + _TAG_BYTES
_HEAD_BYTES: Final = len(_VERSION) + _FINGERPRINT_BYTES
_SMALLEST: Final = _HEAD_BYTES + _WRAPPED_BYTES + _NONCE_BYTES + _TAG_BYTES


class SecretsUnreadable(SecretsLost):
    """A sealed blob cannot be opened: wrong key, wrong row, or damaged."""


class SecretBox:
    """A blob: version (1 byte), key's fingerprint (8), data key (60), nonce (12), ciphertext."""

    def __init__(self, secret_key: str, *, older_keys: tuple[str, ...] = ()) -> None:
        """`secret_key` seals; blobs sealed under `older_keys` can still be opened."""
        info = b"agent-rft/header-envelope/v1"
        self._keys: dict[bytes, AESGCM] = {}
        for secret in (*reversed(older_keys), secret_key):
            key = HKDF(SHA256(), _KEY_BYTES, salt=None, info=info).derive(secret.encode())
            self._current = hashlib.sha256(b"key-id" + key).digest()[:_FINGERPRINT_BYTES]
            self._keys[self._current] = AESGCM(key)

    def seal(self, plain: dict[str, Any], *, project_id: str, row_id: str) -> bytes:
        row = _row(project_id, row_id)
        data_key, nonce = os.urandom(_KEY_BYTES), os.urandom(_NONCE_BYTES)
        text = json.dumps(plain, separators=(",", ":")).encode()
        return self._wrap(data_key, row) + nonce + AESGCM(data_key).encrypt(nonce, text, row)

    def open(self, blob: bytes, *, project_id: str, row_id: str) -> dict[str, Any]:
        """Decrypts a blob. Raises `SecretsUnreadable` unless it was sealed for exactly this row."""
        row = _row(project_id, row_id)
        data_key = self._unwrap(blob, row)
        sealed = blob[_HEAD_BYTES + _WRAPPED_BYTES :]
        try:
            text = AESGCM(data_key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], row)
        except InvalidTag:
            raise SecretsUnreadable("the sealed secrets are damaged or of another row") from None
        plain: dict[str, Any] = json.loads(text)
        return plain

    @property
    def head(self) -> bytes:
        return _VERSION + self._current

    def rewrap(self, blob: bytes, *, project_id: str, row_id: str) -> bytes:
        row = _row(project_id, row_id)
        return self._wrap(self._unwrap(blob, row), row) + blob[_HEAD_BYTES + _WRAPPED_BYTES :]

    def _wrap(self, data_key: bytes, row: bytes) -> bytes:
        head, nonce = self.head, os.urandom(_NONCE_BYTES)
        return head + nonce + self._keys[self._current].encrypt(nonce, data_key, head + row)

    def _unwrap(self, blob: bytes, row: bytes) -> bytes:
        head, wrapped = blob[:_HEAD_BYTES], blob[_HEAD_BYTES : _HEAD_BYTES + _WRAPPED_BYTES]
        if len(blob) < _SMALLEST or not head.startswith(_VERSION):
            raise SecretsUnreadable("not sealed secrets of a known version")
        key = self._keys.get(head[len(_VERSION) :])
        if key is None:
            raise SecretsUnreadable("sealed under a key that is not configured any more")
        try:
            return key.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], head + row)
        except InvalidTag:
            raise SecretsUnreadable("the sealed secrets are damaged or of another row") from None


def build_secret_box(settings: Settings) -> SecretBox:
    newest, *older = settings.secret_keys
    return SecretBox(newest, older_keys=tuple(older))


def _row(project_id: str, row_id: str) -> bytes:
    return json.dumps([project_id, "fine_tuning_jobs.secrets", row_id]).encode()
