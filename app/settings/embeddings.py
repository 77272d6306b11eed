"""Settings of the embedding endpoint that the operator provides."""

from pydantic import Field, SecretStr

from app.settings.sources import RevealedInJson, SettingsGroup


class EmbeddingSettings(SettingsGroup):
    """An OpenAI-compatible server, whose model embeds texts for `text_similarity` by `cosine`."""

    model: str = Field(min_length=1)
    base_url: str = Field(pattern=r"^https?://[^?#]+$")  # with the version: https://api.example/v1
    api_key: RevealedInJson = SecretStr("")
