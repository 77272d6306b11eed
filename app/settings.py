"""Configuration: one frozen tree per process, and the only reader of the environment.

Owns: the variable names (prefix ``AGENT_RFT_``, ``__`` between levels), the optional TOML file
named by ``AGENT_RFT_CONFIG``, the defaults, and the encoding of a tree for a child process.
Promises: ``load_settings()`` either returns a complete tree or raises an error that names every
invalid variable. Must not know: the use of any value beyond its unit and range.
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

from app.domain.accounts.quotas import Quotas
from app.domain.models.models import BaseModelSpec

PREFIX = "AGENT_RFT_"
CONFIG_VARIABLE = "AGENT_RFT_CONFIG"
# Login roles, none a superuser. The supervisor creates them, and migrations grant rights to them.
OWNER_ROLE = "agent_rft_owner"
APP_ROLE = "agent_rft_app"
WORKER_ROLE = "agent_rft_worker"
_KEY_HMAC = "api-key-hmac/v1"
DEFAULT_MODEL = "tiny-agent-2026-11-21"

_HOST_PORT = re.compile(r"^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$")
_DRIVER = "postgresql+psycopg://"


def _host_port(value: str) -> str:
    match = _HOST_PORT.match(value)
    if match is None or not 0 < int(match[2]) < 65536:  # noqa: PLR2004 - the TCP port range
        raise ValueError(f"{value!r} is not HOST:PORT, e.g. 127.0.0.1:9000 or [::1]:9000")
    return value.lower()


def _psycopg_url(value: str) -> str:
    # The default driver of a plain postgresql:// differs between SQLAlchemy 2.0 and 2.1.
    if not value.startswith(_DRIVER):
        raise ValueError(f"a database URL must start with {_DRIVER}")
    return value


def _long_enough(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value().encode()) < 32:  # noqa: PLR2004 - the hash's own width
        raise ValueError("the secret key needs at least 32 bytes, e.g. of openssl rand -hex 32")
    return value


HostPort = Annotated[str, AfterValidator(_host_port)]
DatabaseUrl = Annotated[str, AfterValidator(_psycopg_url)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EgressSettings(_Part):
    """Rules for calls to customers' tools and graders. Times in seconds, sizes in bytes."""

    allow_endpoints: tuple[HostPort, ...] = ()
    """Exact HOST:PORT exempt from the address check; `localhost`, `127.0.0.1` and `[::1]` stand for
    each other.
    """
    allow_plain_http: bool = False  # development only: http:// to allowed endpoints
    call_timeout_s: float = Field(600.0, gt=0)
    max_retries: int = Field(3, ge=0, le=10)
    max_body_bytes: int = Field(1_048_576, gt=0)


class LeaseSettings(_Part):
    """Ownership of a running job. The heartbeat is a quarter of the lease. The process of a run is
    ended when its event loop does not respond for two leases.
    """

    lease_s: float = Field(30.0, gt=0)
    max_attempts: int = Field(5, ge=1)
    sweep_interval_s: float = Field(5.0, gt=0)
    progress_s: float | None = Field(None, gt=0)
    """Time without progress (an answer of an endpoint, a micro-batch, a stored file) after which a
    run's process is ended; `None` stands for half an hour, or twice the time of a call if that is
    longer.
    """
    pause_grace_s: float = Field(900.0, gt=0)
    """Time after which a requested pause does not wait for the end of the step any longer."""

    @property
    def heartbeat_s(self) -> float:
        return self.lease_s / 4


class JudgeSettings(_Part):
    """An OpenAI-compatible server of the operator, whose models score for any project."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    base_url: str = Field(pattern=r"^https?://[^?#]+$")  # with the version: https://api.example/v1
    api_key: SecretStr = SecretStr("")

    @field_serializer("api_key", when_used="json")
    def _reveal(self, value: SecretStr) -> str:
        # JSON is the way to a child process alone; any other form stays masked.
        return value.get_secret_value()


class ObjectsSettings(_Part):
    """An S3-compatible bucket that stores the objects instead of the local directory. Without keys,
    the machine's own credentials are used: environment, container or instance role.
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
    max_eval_run_s: float = Field(86_400.0, gt=0)  # from the first claim of an eval run
    waiting_limit_s: float = Field(120.0, gt=0)
    """Seconds after which a job that waits for its endpoints alone is put back into the queue, if
    another project's job waits for a worker.
    """


class RetentionSettings(_Part):
    """Days after which data are removed; `None` keeps them. Those of a job count from its end, and
    what an unfinished job or eval run uses is kept.
    """

    rollouts_days: float | None = Field(None, gt=0)
    checkpoints_days: float | None = Field(None, gt=0)
    """Checkpoints and their models; the model that a job published is none of them."""
    jobs_days: float | None = Field(None, gt=0)
    """Ended jobs with all that belongs to them, as `DELETE /v1/fine_tuning/jobs/{id}` does it."""
    files_days: float | None = Field(None, gt=0)
    """Files, counted from their creation; result files are files."""


class PricingSettings(_Part):
    """Prices for `usage_metrics.estimated_cost`, which is absent without a price."""

    per_hour: float | None = Field(None, ge=0)  # price of an hour of a job's training_time_s
    currency: str = Field("USD", min_length=1, max_length=16)


def shipped_model_dir() -> Path:
    """Returns the directory of the tiny model in the package `workers`, without importing it."""
    spec = importlib.util.find_spec("workers")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package `workers` is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "base_models" / "tiny_agent"


def shipped_models() -> tuple[BaseModelSpec, ...]:
    """Returns the base models of an installation that configures none."""
    return (
        BaseModelSpec(
            name=DEFAULT_MODEL,
            aliases=("tiny-agent",),
            path=str(shipped_model_dir()),
            context_length=1024,
            lora_rank=16,
            lora_alpha=16,
            # At 2e-3 with alpha 32 one seed in ten permanently unlearns a whole kind of question.
            learning_rate=1e-3,
            max_turn_tokens=256,
        ),
    )


class _Sources(BaseSettings):
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


class ModelSettings(_Sources):
    """Settings of an engine, except its key."""

    base_models: tuple[BaseModelSpec, ...] = Field(default_factory=shipped_models, min_length=1)


class Settings(ModelSettings):
    """Settings of an API process, a worker or a migration. Each receives only its role's URLs."""

    database_url: DatabaseUrl = Field(repr=False)
    worker_database_url: DatabaseUrl = Field(
        default_factory=lambda data: str(data["database_url"]), repr=False
    )
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)  # migrations only
    redis_url: str = Field("redis://127.0.0.1:6379/0", repr=False)
    data_dir: Path = Path(".agent-rft")
    objects: ObjectsSettings | None = None
    """The bucket of the objects; `None` stores them in `objects_dir`."""
    objects_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "objects")
    work_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "work")
    """Directory of temporary files of runs, and of adapters fetched for the engine. The API, the
    workers and the engine of one machine must see it under the same path. Its contents are
    disposable.
    """
    min_free_bytes: int = Field(256 * 1024**2, ge=0)
    """Free space of each disk below which the service stores no new file, begins no run and is not
    ready. Postgres needs the rest.
    """
    adapter_cache_bytes: int = Field(20 * 1024**3, gt=0)
    """Size of the tuned models' adapters under `work_dir` above which the least recently used are
    removed.
    """
    engine_url: str = "http://127.0.0.1:8300"
    engine_api_key: SecretStr = SecretStr("")
    public_url: str = "http://127.0.0.1:8000"
    secret_key: Annotated[SecretStr, AfterValidator(_long_enough)]
    older_secret_keys: tuple[Annotated[SecretStr, AfterValidator(_long_enough)], ...] = ()
    """Keys that `secret_key` has replaced: what was sealed or hashed under them stays valid."""
    egress: EgressSettings = EgressSettings()
    lease: LeaseSettings = LeaseSettings()
    judges: tuple[JudgeSettings, ...] = ()
    runs: RunSettings = RunSettings()
    quotas: Quotas = Quotas()
    pricing: PricingSettings = PricingSettings()
    retention: RetentionSettings = RetentionSettings()
    requests_per_minute: int = Field(30_000, ge=0)
    """Limit of one project's requests over all API processes; 0 means no limit."""
    validate_files_after_s: float = Field(1.0, ge=0)  # a free worker claims a new job sooner

    @model_validator(mode="after")
    def _progress_takes_longer_than_a_call(self) -> "Settings":
        if self.progress_s <= self.egress.call_timeout_s:
            raise ValueError(
                f"lease.progress_s ({self.progress_s:g}) must be above egress.call_timeout_s "
                f"({self.egress.call_timeout_s:g}): a run that waits for one call is not stuck"
            )
        return self

    @property
    def progress_s(self) -> float:
        """Returns the time without progress after which a run's process is ended."""
        configured = self.lease.progress_s
        return max(1800.0, 2 * self.egress.call_timeout_s) if configured is None else configured

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """Returns the newest key, then the older ones."""
        keys = (self.secret_key, *self.older_secret_keys)
        return tuple(key.get_secret_value() for key in keys)

    def derive_key(self, purpose: str) -> bytes:
        """Derives 32 bytes for one purpose from the newest key."""
        return derive_key(self.secret_key.get_secret_value(), purpose)

    @property
    def key_hmac(self) -> bytes:
        """Returns the HMAC key of API keys that are made now."""
        return self.derive_key(_KEY_HMAC)

    @property
    def older_key_hmacs(self) -> tuple[bytes, ...]:
        """Returns the HMAC keys of API keys that were made under older secret keys."""
        return tuple(derive_key(key, _KEY_HMAC) for key in self.secret_keys[1:])


def derive_key(secret_key: str, purpose: str) -> bytes:
    """Derives 32 bytes for one purpose (HKDF-SHA256, RFC 5869, no salt, one output block)."""
    extracted = hmac.digest(b"\0" * 32, secret_key.encode(), "sha256")
    return hmac.digest(extracted, f"agent-rft/{purpose}".encode() + b"\x01", hashlib.sha256)


class HostSettings(_Sources):
    """Settings that the single-machine supervisor reads before any service runs.

    A configured URL means that this service runs elsewhere and is not started here.
    """

    database_url: DatabaseUrl | None = Field(None, repr=False)
    worker_database_url: DatabaseUrl | None = Field(None, repr=False)
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)
    redis_url: str | None = Field(None, repr=False)
    engine_url: str | None = None
    engine_api_key: SecretStr | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_long_enough)] | None = None
    pg_bin: Path | None = None  # directory that contains `postgres` and `initdb`
    valkey_bin: Path | None = None  # the server's executable


@cache
def load_settings() -> Settings:
    """Reads the environment once per process.

    Raises `pydantic.ValidationError`, which names every missing or invalid variable.
    """
    return Settings()


def to_environment(settings: Settings) -> dict[str, str]:
    """Returns the tree as environment variables, from which ``load_settings()`` reads an equal
    tree.
    """
    variables: dict[str, str] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if value is not None:
            variables[PREFIX + name.upper()] = _to_variable(value)
    return variables


def to_models_json(models: tuple[BaseModelSpec, ...]) -> str:
    """Returns the base models in the format of an engine's `--models-json` file."""
    return json.dumps([spec.model_dump(mode="json") for spec in models], indent=1)


def _to_variable(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, tuple):
        return json.dumps([_to_item(item) for item in value])
    return str(value)


def _to_item(item: Any) -> Any:
    return item.get_secret_value() if isinstance(item, SecretStr) else item.model_dump(mode="json")


def inherited_environment() -> dict[str, str]:
    """Returns this process's environment without `AGENT_RFT_…` and locale, for a child process.

    An ``LC_*`` with a locale that is not installed makes initdb fail (measured), so it is removed.
    """
    excluded = ("LC_", "LANG", PREFIX)
    return {name: value for name, value in os.environ.items() if not name.startswith(excluded)}
