"""Settings of the operator's account at trackers of experiments."""

from pydantic import Field, SecretStr

from app.settings.sources import RevealedInJson, SettingsSection


class WandbSettings(SettingsSection):
    """The operator's account at Weights & Biases, for jobs that send no key of their own."""

    api_key: RevealedInJson = SecretStr("")
    """Key of the account; without one, jobs without a key are written offline."""
    base_url: str = Field("https://api.wandb.ai", pattern=r"^https?://[^?#]+$")
    """Address of the server; another one than the default is a server of your own."""
    offline: bool = False
    """True writes every run offline, also that of a job with a key."""
