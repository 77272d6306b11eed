"""Settings of the bucket that stores objects."""

from pydantic import Field, model_validator

from app.settings.sources import RevealedInJson, SettingsSection


class ObjectsSettings(SettingsSection):
    """An S3-compatible bucket that stores the objects instead of the local directory. Without keys,
    the machine's own credentials are used: environment, container or instance role.
    """

    bucket: str = Field(min_length=3, max_length=63)
    """Name of the bucket."""
    prefix: str = Field("", pattern=r"^(?:[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*)?$")
    """Beginning of the keys of all objects, without a slash at either end."""
    endpoint: str | None = Field(None, pattern=r"^https?://[^?#/]+$")
    """Address of the server; `None` is AWS."""
    region: str = "us-east-1"
    """Region that requests are signed for."""
    access_key_id: str | None = None
    """Id of the access key; it comes with `secret_access_key`."""
    secret_access_key: RevealedInJson | None = None
    """Secret of the access key."""
    session_token: RevealedInJson | None = None
    """Token of temporary credentials."""
    bucket_in_host: bool = False
    """True addresses objects as `https://BUCKET.HOST/KEY` instead of `https://HOST/BUCKET/KEY`."""

    @model_validator(mode="after")
    def _whole_credentials(self) -> "ObjectsSettings":
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("access_key_id and secret_access_key come together")
        return self
