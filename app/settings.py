"""Configuration: one frozen tree per process, and the only reader of the environment.

Owns: the variable names (prefix ``AGENT_RFT_``, ``__`` between levels), the optional TOML file
named by ``AGENT_RFT_CONFIG``, the defaults, and the way a tree is handed to a child process.
Promises: ``load_settings()`` fails with every wrong variable named, never with a half-read tree.
Must not know: what any value is used for beyond its unit and range.
"""

import hashlib
import hmac
import importlib.util
import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_serializer,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from app.domain.models.models import BaseModelSpec

PREFIX = "AGENT_RFT_"
CONFIG_VARIABLE = "AGENT_RFT_CONFIG"
# Login roles, none of them superuser: migrations grant to these names, the supervisor creates them.
OWNER_ROLE = "agent_rft_owner"
APP_ROLE = "agent_rft_app"
WORKER_ROLE = "agent_rft_worker"
DEFAULT_MODEL = "tiny-agent-2026-11-21"

_HOST_PORT = re.compile(r"^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$")
_DRIVER = "postgresql+psycopg://"


def _host_port(value: str) -> str:
    match = _HOST_PORT.match(value)
    if match is None or not 0 < int(match[2]) < 65536:  # noqa: PLR2004 - the TCP port range
        raise ValueError(f"{value!r} is not HOST:PORT, e.g. 127.0.0.1:9000 or [::1]:9000")
    return value.lower()


def _psycopg_url(value: str) -> str:
    # SQLAlchemy changed the driver that a bare postgresql:// means between 2.0 and 2.1.
    if not value.startswith(_DRIVER):
        raise ValueError(f"a database URL starts with {_DRIVER}")
    return value


def _long_enough(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value().encode()) < 32:  # noqa: PLR2004 - the hash's own width
        raise ValueError("the secret key needs at least 32 bytes: openssl rand -hex 32")
    return value


HostPort = Annotated[str, AfterValidator(_host_port)]
DatabaseUrl = Annotated[str, AfterValidator(_psycopg_url)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EgressSettings(_Part):
    """Rules for calls to customer tools and graders. Times in seconds, sizes in bytes."""

    allow_endpoints: tuple[HostPort, ...] = ()  # exact HOST:PORT exempt from the address check
    allow_plain_http: bool = False  # development only: http:// to allowed endpoints
    call_timeout_s: float = Field(600.0, gt=0)
    max_retries: int = Field(3, ge=0, le=10)
    max_body_bytes: int = Field(1_048_576, gt=0)


class LeaseSettings(_Part):
    """Ownership of a running job. The heartbeat is a quarter of the lease."""

    lease_s: float = Field(30.0, gt=0)
    max_attempts: int = Field(5, ge=1)
    sweep_interval_s: float = Field(5.0, gt=0)

    @property
    def heartbeat_s(self) -> float:
        return self.lease_s / 4


class JudgeSettings(_Part):
    """An OpenAI-compatible server of the operator's, whose models score for any project."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    base_url: str = Field(pattern=r"^https?://[^?#]+$")  # with the version: https://api.example/v1
    api_key: SecretStr = SecretStr("")

    @field_serializer("api_key", when_used="json")
    def _reveal(self, value: SecretStr) -> str:
        # JSON is the way to a child process alone; any other form stays masked.
        return value.get_secret_value()


class ObjectsSettings(_Part):
    """An S3-compatible bucket that keeps the objects instead of the local directory. Without keys,
    the machine's own credentials count: environment, container or instance role.
    """

    bucket: str = Field(min_length=3, max_length=63)
    prefix: str = Field("", pattern=r"^(?:[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*)?$")
    endpoint: str | None = Field(None, pattern=r"^https?://[^?#/]+$")  # default: AWS
    region: str = "us-east-1"
    access_key_id: str | None = None
    secret_access_key: SecretStr | None = None
    session_token: SecretStr | None = None
    bucket_in_host: bool = False  # https://BUCKET.HOST/KEY instead of https://HOST/BUCKET/KEY

    @field_serializer("secret_access_key", "session_token", when_used="json-unless-none")
    def _reveal(self, value: SecretStr) -> str:
        # JSON is the way to a child process alone; any other form stays masked.
        return value.get_secret_value()

    @model_validator(mode="after")
    def _whole_credentials(self) -> "ObjectsSettings":
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("access_key_id and secret_access_key come together")
        return self


class RunSettings(_Part):
    """Limits of one training run. Shares are in 0..1."""

    max_concurrent_rollouts: int = Field(128, ge=1)
    infrastructure_limit: float = Field(0.75, gt=0, le=1)
    min_group_share: float = Field(0.75, gt=0, le=1)


class PricingSettings(_Part):
    """Prices behind `usage_metrics.estimated_cost`. Without a price no cost is shown."""

    per_hour: float | None = Field(None, ge=0)  # price of an hour of a job's training_time_s
    currency: str = Field("USD", min_length=1, max_length=16)


def shipped_model_dir() -> Path:
    """Directory of the tiny model in the package. Finding a package does not import it."""
    spec = importlib.util.find_spec("workers")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package `workers` is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "base_models" / "tiny_agent"


def shipped_models() -> tuple[BaseModelSpec, ...]:
    """The base models of an installation that configures none."""
    return (
        BaseModelSpec(
            name=DEFAULT_MODEL,
            aliases=("tiny-agent",),
            path=str(shipped_model_dir()),
            context_length=1024,
            lora_rank=16,
            lora_alpha=16,
            # At 2e-3 with alpha 32 one seed in ten loses a whole kind of question for good.
            learning_rate=1e-3,
            max_turn_tokens=256,
        ),
    )


class _Sources(BaseSettings):
    """Order of precedence: arguments, environment, TOML file, defaults."""

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
        if not path:  # compose files hand on unset variables as empty ones
            return init_settings, env_settings
        try:
            toml = TomlConfigSettingsSource(settings_cls, toml_file=path)
        except tomllib.TOMLDecodeError as broken:
            raise ValueError(f"{CONFIG_VARIABLE}: {path} is not TOML: {broken}") from broken
        return init_settings, env_settings, toml


class ModelSettings(_Sources):
    """Settings of an engine beside its key."""

    base_models: tuple[BaseModelSpec, ...] = Field(default_factory=shipped_models, min_length=1)


class Settings(ModelSettings):
    """Settings of an API process, a worker or a migration. Each gets only the URLs of its role."""

    database_url: DatabaseUrl = Field(repr=False)
    worker_database_url: DatabaseUrl = Field(
        default_factory=lambda data: str(data["database_url"]), repr=False
    )
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)  # migrations only
    redis_url: str = Field("redis://127.0.0.1:6379/0", repr=False)
    data_dir: Path = Path(".agent-rft")
    objects: ObjectsSettings | None = None
    """A bucket; `None` keeps objects in `objects_dir`."""
    objects_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "objects")
    work_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "work")
    """Files that runs work with, and adapters fetched for the engine. The API, the workers and the
    engine of one machine see this directory under the same path; nothing in it is kept for good.
    """
    adapter_cache_bytes: int = Field(20 * 1024**3, gt=0)
    """The tuned models' adapters under `work_dir` may take this much before the oldest leave."""
    engine_url: str = "http://127.0.0.1:8300"
    engine_api_key: SecretStr = SecretStr("")
    public_url: str = "http://127.0.0.1:8000"
    secret_key: Annotated[SecretStr, AfterValidator(_long_enough)]
    egress: EgressSettings = EgressSettings()
    lease: LeaseSettings = LeaseSettings()
    judges: tuple[JudgeSettings, ...] = ()
    runs: RunSettings = RunSettings()
    pricing: PricingSettings = PricingSettings()
    requests_per_minute: int = Field(30_000, ge=0)
    """Requests of one project, over all API processes; 0 is no limit."""

    def derive_key(self, purpose: str) -> bytes:
        """32 bytes for one purpose (HKDF-SHA256, RFC 5869, empty salt, one output block)."""
        extracted = hmac.digest(b"\0" * 32, self.secret_key.get_secret_value().encode(), "sha256")
        return hmac.digest(extracted, f"agent-rft/{purpose}".encode() + b"\x01", hashlib.sha256)

    @property
    def key_hmac(self) -> bytes:
        """Key under which API keys are stored. Changing it disables every key."""
        return self.derive_key("api-key-hmac/v1")


class HostSettings(_Sources):
    """Settings that the single-machine supervisor reads before any service exists.

    A given URL means that this part runs elsewhere and is not started here.
    """

    database_url: DatabaseUrl | None = Field(None, repr=False)
    worker_database_url: DatabaseUrl | None = Field(None, repr=False)
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)
    redis_url: str | None = Field(None, repr=False)
    engine_url: str | None = None
    engine_api_key: SecretStr | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_long_enough)] | None = None
    pg_bin: Path | None = None  # directory that holds `postgres` and `initdb`
    valkey_bin: Path | None = None  # the server's executable


@cache
def load_settings() -> Settings:
    """Read the environment once per process.

    Raises pydantic.ValidationError when a variable is missing or wrong; it names each.
    """
    return Settings()


def to_environment(settings: Settings) -> dict[str, str]:
    """The tree as variables that ``load_settings()`` reads back to an equal tree."""
    variables: dict[str, str] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if value is not None:
            variables[PREFIX + name.upper()] = _to_variable(value)
    return variables


def to_models_json(models: tuple[BaseModelSpec, ...]) -> str:
    """The base models as an engine's `--models-json` file holds them."""
    return json.dumps([spec.model_dump(mode="json") for spec in models], indent=1)


def _to_variable(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, tuple):
        return json.dumps([item.model_dump(mode="json") for item in value])
    return str(value)


def inherited_environment() -> dict[str, str]:
    """Returns the environment of a child process: this one's without `AGENT_RFT_…` and locale.

    ``LC_*`` naming a locale that the machine lacks makes initdb fail (measured), so it is dropped.
    """
    dropped = ("LC_", "LANG", PREFIX)
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
