"""Settings of the hub that curricula read data sets from."""

from pathlib import Path

from pydantic import Field

from app.settings.sources import SettingsSection


class HubSettings(SettingsSection):
    """The hub of data sets. `HF_HUB_OFFLINE` in the environment of the API forbids it."""

    endpoint: str = Field("https://huggingface.co", pattern=r"^https?://[^?#]+$")
    """Address of the hub; one that is not public must be among the allowed endpoints."""
    data_sets_dir: Path | None = None
    """Directory with data sets as `owner/name`, which is looked at before the hub."""
