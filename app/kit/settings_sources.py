"""The sources of settings, their order of precedence, and the base classes of the tree."""

import hashlib
import hmac
import os
import tomllib
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from typing_extensions import override

PREFIX = "AGENT_RFT_"
CONFIG_VARIABLE = "AGENT_RFT_CONFIG"

RevealedInJson = Annotated[
    SecretStr, PlainSerializer(SecretStr.get_secret_value, when_used="json-unless-none")
]
"""A secret, revealed only in JSON, which passes settings to a child process."""


class SettingsSection(BaseModel):
    """Base class of the settings of one subject, which are one level of the tree."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sources(BaseSettings):
    """Base class with the order of precedence: arguments, environment, TOML file, defaults."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        path = os.environ.get(CONFIG_VARIABLE)
        if not path:  # compose files pass unset variables as empty ones
            return init_settings, env_settings
        try:
            toml = TomlConfigSettingsSource(settings_cls, toml_file=path)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{CONFIG_VARIABLE}: {path} is not TOML: {error}") from error
        return init_settings, env_settings, toml


_LEAST_BYTES: Final = 32


def long_enough(secret_key: str) -> str:
    if len(secret_key.encode()) < _LEAST_BYTES:
        raise ValueError(
            f"the secret key needs at least {_LEAST_BYTES} bytes, e.g. of openssl rand -hex 32"
        )
    return secret_key


def _long_enough(value: SecretStr) -> SecretStr:
    long_enough(value.get_secret_value())
    return value


SecretKey = Annotated[SecretStr, AfterValidator(_long_enough)]


def derive_key(secret_key: str, purpose: str) -> bytes:
    """Derives 32 bytes for one purpose (HKDF-SHA256, RFC 5869, no salt, one output block)."""
    extracted = hmac.digest(b"\0" * 32, secret_key.encode(), "sha256")
    return hmac.digest(extracted, f"agent-rft/{purpose}".encode() + b"\x01", hashlib.sha256)
