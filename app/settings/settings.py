"""The settings of a service's process, as one tree."""

from functools import cache
from pathlib import Path

from pydantic import Field, SecretStr, field_validator, model_validator

from app.domain.accounts.quotas import Quotas
from app.settings.compute import ComputeSettings
from app.settings.database import DatabaseUrl
from app.settings.egress import EgressSettings
from app.settings.graders import EmbeddingSettings, JudgeSettings
from app.settings.hub import HubSettings
from app.settings.models import ModelSettings
from app.settings.objects import ObjectsSettings
from app.settings.runs import LeaseSettings, PricingSettings, RetentionSettings, RunSettings
from app.settings.sandbox import SandboxSettings, socket_of
from app.settings.secret_key import SecretKey, derive_key
from app.settings.telemetry import TelemetrySettings
from app.settings.trackers import WandbSettings

_KEY_HMAC = "api-key-hmac/v1"
_LEAST_KEY_LENGTH = 16


class Settings(ModelSettings):
    """Settings of an API process, a worker or a migration. Each receives only its role's URLs."""

    database_url: DatabaseUrl = Field(repr=False)
    """Postgres, as the role of the API: `postgresql+psycopg://USER:PASSWORD@HOST/NAME`."""
    worker_database_url: DatabaseUrl = Field(
        default_factory=lambda data: str(data["database_url"]), repr=False
    )
    """The same database, as the role of workers; without one, `database_url`."""
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)
    """The same database, as the owner of its tables, for migrations and the change of the secret
    key only.
    """
    redis_url: str = Field("redis://127.0.0.1:6379/0", repr=False)
    """Redis or Valkey, the broker and the store of rate limits."""
    data_dir: Path = Path(".agent-rft")
    """Directory of what this installation stores outside the database."""
    objects: ObjectsSettings | None = None
    """The bucket of the objects; `None` stores them in `objects_dir`."""
    objects_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "objects")
    """Directory of files, checkpoints and adapters; without one, `objects` in `data_dir`."""
    work_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "work")
    """Directory of temporary files of runs, and of adapters fetched for the engine. The API, the
    workers and the engine of one machine must see it under the same path. Its contents are
    disposable. Without one, `work` in `data_dir`.
    """
    trackers_dir: Path = Field(default_factory=lambda data: Path(data["data_dir"]) / "trackers")
    """Directory of what trackers of experiments write, such as event files for TensorBoard;
    without one, `trackers` in `data_dir`.
    """
    hub: HubSettings = HubSettings()
    wandb: WandbSettings = WandbSettings()
    min_free_bytes: int = Field(256 * 1024**2, ge=0)
    """Free space of each disk below which the service stores no new file, begins no run and is not
    ready. Postgres needs the remaining space.
    """
    adapter_cache_bytes: int = Field(20 * 1024**3, gt=0)
    """Size of the tuned models' adapters under `work_dir` above which the least recently used are
    removed.
    """
    engine_url: str = "http://127.0.0.1:8300"
    """Address of the engine."""
    engine_api_key: SecretStr = SecretStr("")
    """Key of the engine; empty for one that wants none."""
    public_url: str = "http://127.0.0.1:8000"
    """Address under which people reach the service; links to pages begin with it."""
    secret_key: SecretKey
    """Key of 32 bytes or more, such as `openssl rand -hex 32` prints: it seals secrets, hashes API
    keys and signs calls to endpoints.
    """
    older_secret_keys: tuple[SecretKey, ...] = ()
    """Keys that `secret_key` has replaced: values that were sealed or hashed under them stay valid.
    """
    egress: EgressSettings = EgressSettings()
    lease: LeaseSettings = LeaseSettings()
    judges: tuple[JudgeSettings, ...] = ()
    """Servers of judges that any project may use, each an object."""
    embeddings: EmbeddingSettings | None = None
    runs: RunSettings = RunSettings()
    compute: ComputeSettings = ComputeSettings()
    sandbox: SandboxSettings = SandboxSettings()
    quotas: Quotas = Quotas()
    pricing: PricingSettings = PricingSettings()
    retention: RetentionSettings = RetentionSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    redact_stored_texts: bool = False
    """True replaces e-mail addresses, IBANs and international telephone numbers in stored chat
    completions and in feedback before they are stored.
    """
    requests_per_minute: int = Field(30_000, ge=0)
    """Limit of one project's requests over all API processes; 0 means no limit."""
    monitoring_key: SecretStr | None = None
    """Key with which Prometheus reads `GET /metrics` of the API and of workers; without it the API
    measures nothing, and does not serve the path.
    """
    stream_heartbeat_s: float = Field(15.0, gt=0)
    """Seconds without news after which a live stream sends a comment, so that no proxy closes it,
    and checks whether its key is still valid.
    """
    usage_flush_s: float = Field(5.0, gt=0)
    """Seconds between two writes of what chats used; a killed API process loses as much of it."""
    coach_poll_s: float = Field(2.0, ge=0)
    """Seconds between two looks of an API process for due steps of Coach sessions; 0 leaves them to
    other processes.
    """
    validate_files_after_s: float = Field(1.0, ge=0)
    """Seconds that the API leaves a new job to workers before it reads the job's files itself."""

    @field_validator("monitoring_key")
    @classmethod
    def _is_no_short_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None or not key.get_secret_value():
            return None  # compose files pass unset variables as empty ones
        if len(key.get_secret_value()) < _LEAST_KEY_LENGTH:
            raise ValueError(f"the key must have {_LEAST_KEY_LENGTH} characters or more")
        return key

    @model_validator(mode="after")
    def _progress_takes_longer_than_a_call(self) -> "Settings":
        if self.progress_deadline_s <= self.egress.call_timeout_s:
            raise ValueError(
                f"lease.progress_s ({self.progress_deadline_s:g}) must be above "
                f"egress.call_timeout_s ({self.egress.call_timeout_s:g}): a run that waits for one "
                "call is not stuck"
            )
        return self

    @property
    def sandbox_socket(self) -> Path:
        return socket_of(self.sandbox, self.data_dir)

    @property
    def progress_deadline_s(self) -> float:
        """Returns the time without progress after which the process of a run is ended:
        `lease.progress_s`, or its default.
        """
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
        """Returns the HMAC key for new API keys."""
        return self.derive_key(_KEY_HMAC)

    @property
    def older_key_hmacs(self) -> tuple[bytes, ...]:
        """Returns the HMAC keys of API keys that were created under older secret keys."""
        return tuple(derive_key(key, _KEY_HMAC) for key in self.secret_keys[1:])


@cache
def load_settings() -> Settings:
    """Reads the environment once per process.

    Raises `pydantic.ValidationError`, which names every missing or invalid variable.
    """
    return Settings()
