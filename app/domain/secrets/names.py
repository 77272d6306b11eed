"""Names that announce a credential: `api_key`, `X-Api-Key`, `authToken`, `Headers`, `PASSWORD`.

Owns the one list of credential words. Case, separators and camel case make no difference. The
standard library alone, so that a migration may import it.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ANYWHERE: Final = frozenset(
    {
        "apikey", "apikeys", "auth", "authentication", "authorisation", "authorization",
        "basicauth", "bearer", "cert", "certificate", "certificates", "cookie", "cookies",
        "credential", "credentials", "creds", "header", "headers", "hmac", "jwt", "oauth",
        "passcode", "passphrase", "passwd", "password", "passwords", "pwd", "secret", "secrets",
    }
)  # fmt: skip
"""Words that announce a credential wherever they occur in a name."""
_LAST: Final = frozenset({"token", "otp"})
"""Words that announce one at the end of a name only: `auth_token`, but not `token_penalty`."""
_VALUE: Final = frozenset({"value", "string", "text", "data"})
"""Words that may follow the credential's own: `token_value`."""
_KEY_KINDS: Final = frozenset(
    {
        "access", "account", "api", "auth", "client", "encryption", "license", "master", "priv",
        "private", "project", "public", "secret", "service", "shared", "sign", "signing", "ssh",
        "ssl", "storage", "subscription",
    }
)  # fmt: skip
_TOKEN_KINDS: Final = frozenset(["access", "api", "auth", "bearer", "id", "refresh", "session"])
_JOINED: Final = re.compile(
    r"api_?keys?|auth_?(?:orization|token)|access_?token|bearer_?token|id_?token|refresh_?token|"
    r"session_?token|pass_?(?:word|phrase|code)|(?:access|private|secret|signing)_?key|"
    r"client_?secret|secret"
)
"""Compounds that are often written without a separator: `accesstoken`, `xapikey`."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS: Final = re.compile(r"[^a-z]+")
_MAX_NAME: Final = 512
"""Longer names are judged by their first characters."""


@lru_cache(maxsize=4096)
def is_credential_name(name: str) -> bool:
    """Says if a value under this name has to be treated as a secret."""
    text = unicodedata.normalize("NFKC", name[:_MAX_NAME])
    split = [word for word in _SEPARATORS.split(_CAMEL.sub("_", text).casefold()) if word]
    plain = [word for word in _SEPARATORS.split(text.casefold()) if word]
    return _announces(split) or _announces(plain)


def _announces(words: list[str]) -> bool:
    while len(words) > 1 and words[-1] in _VALUE:
        words = words[:-1]
    if not words:
        return False
    if not _ANYWHERE.isdisjoint(words) or words[-1] in _LAST:
        return True
    if _JOINED.search("".join(words)) and "tokens" not in words:
        return True
    before = words[-2] if len(words) > 1 else ""
    return (words[-1] in {"key", "keys"} and before in _KEY_KINDS) or (
        words[-1] == "tokens" and (not before or before in _TOKEN_KINDS)
    )
