"""Settings of the servers that the operator provides to graders: judges and embeddings."""

from typing import Annotated

from pydantic import Field, SecretStr

from app.settings.sources import RevealedInJson, SettingsSection


class EmbeddingSettings(SettingsSection):
    """An OpenAI-compatible server, whose model embeds texts for `text_similarity` by `cosine`."""

    model: str = Field(min_length=1)
    """Name of the model that embeds, as the server knows it."""
    base_url: str = Field(pattern=r"^https?://[^?#]+$")
    """Address of the server of embeddings with the version, such as `https://api.example/v1`."""
    api_key: RevealedInJson = SecretStr("")
    """Key of that server; empty for one that wants none."""


class JudgeSettings(SettingsSection):
    """An OpenAI-compatible server of the operator, whose models score for any project."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    """Names of the models, which graders may name as their judge."""
    base_url: str = Field(pattern=r"^https?://[^?#]+$")
    """Address of the server of judges with the version, such as `https://api.example/v1`."""
    api_key: RevealedInJson = SecretStr("")
    """Key of that server; empty for one that wants none."""
