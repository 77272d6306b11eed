"""Field types for customers' values with special treatment: secrets, called addresses, judges'
names.

Owns the marks that `app.domain.documents.walk` finds in annotations. A field of a customer's model
takes one of these types and is then sealed, redacted, checked and probed like every other. Must not
know the models with such fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Final

from pydantic import Field


@dataclass(frozen=True, slots=True)
class SecretMark:
    """Every text at or below the field is a secret."""


@dataclass(frozen=True, slots=True)
class AddressMark:
    """An URL of the customer's that the service calls; its query values are secrets."""

    called: Callable[[str], str] = str
    """Converts the field's value to the URL that is called."""
    headers: str = "headers"
    """Name of the sibling field whose headers are sent to the address."""


@dataclass(frozen=True, slots=True)
class JudgeMark:
    """The name of a model that scores."""

    elsewhere: str = "base_url"
    """Name of the sibling field with another server; without it the service finds the model."""


@dataclass(frozen=True, slots=True)
class EmbeddingMark:
    """A choice, one value of which needs embeddings."""

    value: str


@dataclass(frozen=True, slots=True)
class TemplateMark:
    """A text with placeholders, filled for each sample."""


def chat_url(base_url: str) -> str:
    """Returns the URL as OpenAI's clients build it: the base contains the version, e.g. `…/v1`."""
    return base_url.rstrip("/") + "/chat/completions"


SecretHeaders = Annotated[dict[str, str], SecretMark()]
"""Headers that are sent to the address of the same object."""
SecretString = Annotated[str, Field(min_length=1, max_length=4000), SecretMark()]
"""One text that is a secret as a whole, such as a token."""
CustomerUrl = Annotated[str, Field(min_length=1, max_length=2048), AddressMark()]
CustomerBaseUrl = Annotated[str, Field(min_length=1, max_length=2000), AddressMark(chat_url)]
"""The base URL of an OpenAI-compatible server."""
JudgeName = Annotated[str, Field(min_length=1, max_length=256), JudgeMark()]


_NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class OpenKeys:
    """A mixin for models that keep unknown keys; it lists keys that are documented although they
    are not fields.
    """

    documented_keys: ClassVar[Mapping[str, str]] = _NO_KEYS
    """Documented keys with one value each, with the description of that value."""
    free_form_keys: ClassVar[frozenset[str]] = frozenset()
    """Documented keys whose value may be any JSON."""
    accepted_keys: ClassVar[frozenset[str] | None] = None
    """The only unknown keys that a new object may have; `None` permits any. Stored objects keep
    theirs.
    """
