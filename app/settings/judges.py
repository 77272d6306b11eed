"""Settings of the judges that the operator provides."""

from typing import Annotated

from pydantic import Field, SecretStr, field_serializer

from app.settings.sources import SettingsGroup


class JudgeSettings(SettingsGroup):
    """An OpenAI-compatible server of the operator, whose models score for any project."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    base_url: str = Field(pattern=r"^https?://[^?#]+$")  # with the version: https://api.example/v1
    api_key: SecretStr = SecretStr("")

    @field_serializer("api_key", when_used="json")
    def _reveal(self, value: SecretStr) -> str:
        # JSON is the way to a child process alone; any other form stays masked.
        return value.get_secret_value()
