"""Names that announce a credential: `api_key`, `X-Api-Key`, `HF_TOKEN_RO`, `Headers`, `PASSWORD`.

Owns the one list of credential words. Case, separators, camel case and letters of other alphabets
that look Latin make no difference. The fields of a model are not checked here; any other name that
looks like a credential counts as one. Imports the standard library only, so that a migration may
import it.
"""

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from typing import Final


class SecretNameClass(IntEnum):
    """Classes of names, by the values below them that are secrets."""

    NOTHING = 0
    TEXTS = 1
    """Only texts: the name may also be that of a count, such as `token_budget`."""
    ALL = 2
    """Texts and numbers."""


_ANYWHERE: Final = frozenset(
    {
        "apikey", "apikeys", "auth", "authentication", "authorisation", "authorization",
        "basicauth", "bearer", "cert", "certificate", "certificates", "cookie", "cookies",
        "credential", "credentials", "creds", "header", "headers", "hmac", "jwt", "oauth",
        "passcode", "passphrase", "passwd", "password", "passwords", "passwort", "pwd", "secret",
        "secrets",
    }
)  # fmt: skip
"""Words that announce a credential wherever they occur in a name."""
_LAST: Final = frozenset({"token", "otp", "pin"})
"""Words that announce a credential only at the end of a name: `auth_token`, but not
`token_penalty`.
"""
_VALUE: Final = frozenset({"value", "string", "text", "data"})
"""Words that may follow a credential's word: `token_value`."""
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
    r"client_?secret|secret(?!ar)"
)
"""Compounds that are often written without a separator: `accesstoken`, `xapikey`."""
_TEXT_WORDS: Final = frozenset({"sig", "sas", "dsn", "pat", "pin", "otp", "pw", "connstr"})
"""Short words that announce a credential as a whole word only."""
_TEXT_PARTS: Final = re.compile(
    r"token(?!i[sz])|secret(?!ar)|credential|auth(?!or(?!i[sz]))|bearer|cookie|session|signature|"
    r"passw|passwd|pwd|passphrase|passcode|connectionstring|hmac|jwt|"
    r"(?:api|access|private|ssh|master|secret|openai|functions|signing|account|storage)keys?"
)
"""Parts of a name that announce a credential in texts, with or without separators around them."""
_TEXT_ENDS: Final = ("key", "keys")
"""Ends of a name's last word: `x-functions-key`, `openaikey`."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS: Final = re.compile(r"[^a-z]+")
_LOOK_ALIKES: Final = str.maketrans(
    "АВЕКМНОРСТУХІЅЈԌԚԜавекмнорстухіѕјԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχ",
    "ABEKMHOPCTYXISJGQWabekmhopctyxisjdqwhABEZHIKMNOPTYXaeikvoptux",
)
"""Cyrillic and Greek letters, with the Latin letters that look like them."""
MAX_NAME: Final = 512
"""Largest number of characters of a name: new definitions may not have a longer one. In stored ones
a longer name counts as a credential's, and is never cached.
"""


def secret_name_class(name: str) -> SecretNameClass:
    """Returns the class of values under this name that are secrets."""
    return SecretNameClass.ALL if len(name) > MAX_NAME else _secret_name_class(name)


@lru_cache(maxsize=4096)
def _secret_name_class(name: str) -> SecretNameClass:
    text = unicodedata.normalize("NFKC", name).translate(_LOOK_ALIKES)
    split = [word for word in _SEPARATORS.split(_CAMEL.sub("_", text).casefold()) if word]
    plain = [word for word in _SEPARATORS.split(text.casefold()) if word]
    if _announces(split) or _announces(plain):
        return SecretNameClass.ALL
    texts = _announces_texts(split) or _announces_texts(plain)
    return SecretNameClass.TEXTS if texts else SecretNameClass.NOTHING


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
        words[-1] == "tokens" and before in _TOKEN_KINDS
    )


def _announces_texts(words: list[str]) -> bool:
    if not words:
        return False
    if not _TEXT_WORDS.isdisjoint(words) or words[-1].endswith(_TEXT_ENDS):
        return True
    if any(word.endswith("pass") for word in words):
        return True
    return any(_TEXT_PARTS.search(part) for part in (*words, "".join(words)))
