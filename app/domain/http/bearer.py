"""Compares the bearer token of a request with one key.

The operator's keys of monitoring and of the engine are such keys. A project's key is looked up by
its digest instead (`app/services/accounts/keys.py`).
"""

import hmac


def has_key(authorization: str | None, key: str) -> bool:
    """Returns whether the header `Authorization` has the key, in a time that does not depend on it.
    Bytes of the header that are no text, as servers decode them, are compared like all others. An
    empty key is no key: no header has it.
    """
    scheme, _, token = (authorization or "").partition(" ")
    sent = token.strip().encode(errors="surrogateescape")
    return bool(key) and scheme.lower() == "bearer" and hmac.compare_digest(sent, key.encode())
