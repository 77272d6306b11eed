"""The tree of settings, which each process reads from its environment or from a TOML file."""

import importlib.util
import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)
from typing_extensions import override

from app.accounts.usage import Quotas
from app.kit.settings_sources import (
    PREFIX,
    RevealedInJson,
    SecretKey,
    SettingsSection,
    Sources,
    derive_key,
)
from app.kit.span_export import SpanExport
from app.models.compute import Products
from app.models.models import BaseModelSpec, TrainerMemory
from app.tools.programs import Layer

# Login roles, none a superuser. The supervisor creates them, and migrations grant rights to them.
OWNER_ROLE = "agent_rft_owner"
APP_ROLE = "agent_rft_app"
WORKER_ROLE = "agent_rft_worker"


def _psycopg_url(value: str) -> str:
    # The default driver of a plain postgresql:// differs between SQLAlchemy 2.0 and 2.1.
    if not value.startswith("postgresql+psycopg://"):
        raise ValueError("a database URL must start with postgresql+psycopg://")
    return value


DatabaseUrl = Annotated[str, AfterValidator(_psycopg_url)]


class ComputeSettings(SettingsSection):
    """Products and threads of the CPU engine and of trainers on a CPU. A measurement of two
    seconds at the first start on a machine chooses each that is not set, and `compute` of the data
    directory keeps it. A resumed job computes as it began.
    """

    measure: bool = True
    """False measures nothing: oneDNN's products, half of the cores in the engine, all of them in a
    trainer.
    """
    engine_products: Products | None = None
    """`onednn` multiplies packed weights, `torch` plain ones."""
    engine_threads: int | None = Field(None, gt=0)
    """Threads of the CPU engine."""
    trainer_products: Products | None = None
    """Library of the products with frozen weights."""
    trainer_threads: int | None = Field(None, gt=0)
    """Threads of a trainer on a CPU."""


class ConfiguredCompute(Sources):
    """Only these settings, for a command that needs no others."""

    compute: ComputeSettings = ComputeSettings()


_HOST_PORT = re.compile(r"^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$")


def _host_port(value: str) -> str:
    match = _HOST_PORT.match(value)
    if match is None or not 0 < int(match[2]) < 65536:  # noqa: PLR2004 - the TCP port range
        raise ValueError(f"{value!r} is not HOST:PORT, e.g. 127.0.0.1:9000 or [::1]:9000")
    return value.lower()


HostPort = Annotated[str, AfterValidator(_host_port)]
HostName = Annotated[
    str,
    # An IPv6 address has two colons, a name none: one that has a port would never match.
    StringConstraints(
        to_lower=True,
        pattern=r"^((\*\.)?[A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$",
    ),
]


class EgressSettings(SettingsSection):
    """Rules for calls to customers' tools and graders. Times in seconds, sizes in bytes."""

    allow_endpoints: tuple[HostPort, ...] = ()
    """Exact HOST:PORT exempt from the address check; `localhost`, `127.0.0.1` and `[::1]` stand for
    each other.
    """
    allow_plain_http: bool = False
    """True admits `http://` to allowed endpoints, for development only."""
    call_timeout_s: float = Field(600.0, gt=0)
    """Time of one call of a tool, grader or environment, all attempts together."""
    max_retries: int = Field(3, ge=0, le=10)
    """Attempts after the first one for an endpoint that fails."""
    max_body_bytes: int = Field(1_048_576, gt=0)
    """Size of the largest reply that is read."""


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


class HostSettings(Sources):
    """Settings that the single-machine supervisor reads before any service runs.

    A configured URL means that this service runs elsewhere and is not started here.
    """

    database_url: DatabaseUrl | None = Field(None, repr=False)
    worker_database_url: DatabaseUrl | None = Field(None, repr=False)
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)
    redis_url: str | None = Field(None, repr=False)
    engine_url: str | None = None
    engine_api_key: SecretStr | None = None
    secret_key: SecretKey | None = None
    niceness: int = Field(10, ge=0, le=19)
    """Niceness of workers, with the jobs that they run, and of the sandbox on Linux, so that the
    API, its database and the engine get the processor before training; 0 lets all compete alike.
    """
    pg_bin: Path | None = None
    """Directory that contains `postgres` and `initdb`; `None` takes the PATH's or the wheel's."""
    valkey_bin: Path | None = None
    """Executable of Valkey or Redis; `None` takes the PATH's or the wheel's."""
    vllm_python: Path | None = None
    """Interpreter of an environment that has vLLM; `None` is that of a checkout."""


class HubSettings(SettingsSection):
    """The hub of data sets. `HF_HUB_OFFLINE` in the environment of the API forbids it."""

    endpoint: str = Field("https://huggingface.co", pattern=r"^https?://[^?#]+$")
    """Address of the hub; one that is not public must be among the allowed endpoints."""
    data_sets_dir: Path | None = None
    """Directory with data sets as `owner/name`, which is looked at before the hub."""


DEFAULT_MODEL = "tiny-agent-2026-11-23"
SCHOLAR_MODEL = "tiny-scholar-2026-11-27"
TOYS: Final = {
    SCHOLAR_MODEL: "questions like the sample rows of the recipes",
    DEFAULT_MODEL: "questions like those of examples/records_agent, and no sample of a recipe",
}
"""What a shipped model knows, and can therefore learn."""


def shipped_model_dir(folder: str = "tiny_agent") -> Path:
    """Returns the directory of a shipped model in the package `workers`, without importing it."""
    spec = importlib.util.find_spec("workers")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package `workers` is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "base_models" / folder


def _shipped(name: str, folder: str, **options: Any) -> BaseModelSpec:
    return BaseModelSpec(
        name=name,
        aliases=(folder.replace("_", "-"),),
        path=str(shipped_model_dir(folder)),
        context_length=1024,
        tool_parser="hermes",
        lora_rank=16,
        lora_alpha=16,
        supervised_learning_rate=1e-3,
        **options,
    )


def shipped_models() -> tuple[BaseModelSpec, ...]:
    # At 2e-3 with alpha 32 one seed in ten permanently unlearns a whole kind of question.
    return (_shipped(DEFAULT_MODEL, "tiny_agent", max_turn_tokens=256, learning_rate=1e-3),)


def scholar_model() -> BaseModelSpec:
    """Returns the shipped model that knows the questions of the recipes; `--model` serves it."""
    return _shipped(SCHOLAR_MODEL, "tiny_scholar", max_turn_tokens=128, learning_rate=2e-3)


def known_by_name() -> tuple[BaseModelSpec, ...]:
    return (*shipped_models(), scholar_model())


class ModelSettings(Sources):
    """Settings of an engine, except its key."""

    base_models: tuple[BaseModelSpec, ...] = Field(default_factory=shipped_models, min_length=1)
    """Base models of the engine, each an object; without any, the small model that is shipped."""


def to_models_json(models: tuple[BaseModelSpec, ...]) -> str:
    return json.dumps([spec.model_dump(mode="json") for spec in models], indent=1)


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


class LeaseSettings(SettingsSection):
    """Settings of leases. The heartbeat is a quarter of the lease. The process of a run is ended
    when its event loop does not respond for two leases.
    """

    lease_s: float = Field(30.0, gt=0)
    """Time after which a worker that renews its lease no more loses it."""
    max_attempts: int = Field(5, ge=1)
    """Claims without progress after which a job, an eval run or an export fails."""
    sweep_interval_s: float = Field(5.0, gt=0)
    """Time between two runs of the sweeper."""
    progress_s: float | None = Field(None, gt=0)
    """Time without progress (an answer of an endpoint, a micro-batch, a stored file) after which a
    run's process is ended; `None` stands for half an hour, or twice the time of a call if that is
    longer.
    """
    pause_grace_s: float = Field(900.0, gt=0)
    """Time after which a requested pause no longer waits for the end of the step."""

    @property
    def heartbeat_s(self) -> float:
        return self.lease_s / 4


class RunSettings(SettingsSection):
    """Limits of one training run. Shares are in 0..1."""

    max_concurrent_rollouts: int = Field(128, ge=1)
    """Rollouts that a run samples at the same time."""
    infrastructure_limit: float = Field(0.75, gt=0, le=1)
    """Share of a step's rollouts whose loss to failures ends the job with an error."""
    min_group_share: float = Field(0.75, gt=0, le=1)
    """Share of a group that must be graded for the group to train."""
    max_eval_run_s: float = Field(86_400.0, gt=0)
    """Seconds from the first claim of an eval run after which it fails."""
    save_share: float = Field(0.05, gt=0, le=1)
    """Share of a supervised or DPO job's time that saving its state may take. A killed run repeats
    the steps after the last save; 1 saves after every step.
    """
    checkpointing: bool | None = None
    """True makes trainers recompute each layer in the backward pass: a quarter more time for a
    fraction of the memory. `None` does so on a GPU only. A base model may have its own value.
    """
    micro_batch_tokens: int | None = Field(None, gt=0)
    """Tokens of a micro-batch; `None` is 4,096 on a CPU, and on a GPU as many as fit into the
    memory that is free at the start. A micro-batch that does not fit is halved.
    """
    waiting_limit_s: float = Field(120.0, gt=0)
    """Seconds after which a job is put back into the queue: if it only waits for its endpoints and
    another project's job waits for a worker, or if one of them is down and any job waits. Shortly
    before the calls of an endpoint that is down give up, if that is earlier.
    """
    episode_waiting_limit_s: float = Field(1800.0, gt=0)
    """Seconds that a rollout may wait for its HTTP environment, all calls of the episode and their
    repeats together; it is lost then as `environment_timeout`.
    """

    @property
    def memory(self) -> TrainerMemory:
        return TrainerMemory(
            checkpointing=self.checkpointing, micro_batch_tokens=self.micro_batch_tokens
        )


class ConfiguredRuns(Sources):
    """Only the settings of runs, which a start reads before it has a database."""

    runs: RunSettings = RunSettings()


class RetentionSettings(SettingsSection):
    """Days after which data are removed; `None` keeps them. For a job's data the days count from
    its end; data that an unfinished job or eval run uses are kept.
    """

    rollouts_days: float | None = Field(None, gt=0)
    """Rollouts of ended jobs; report, curves and events stay."""
    checkpoints_days: float | None = Field(None, gt=0)
    """Checkpoints and their models; a job's published model is kept."""
    jobs_days: float | None = Field(None, gt=0)
    """Ended jobs with all their data, as in `DELETE /v1/fine_tuning/jobs/{id}`."""
    files_days: float | None = Field(None, gt=0)
    """Files, counted from their creation; result files are files."""
    exports_days: float = Field(7.0, gt=0)
    """Exports of models, counted from their end; they can be made again."""
    audit_logs_days: float | None = Field(None, gt=0)
    """Entries of the audit log."""
    completions_days: float | None = Field(None, gt=0)
    """Stored chat completions, and with them the feedback about them."""
    feedback_days: float | None = Field(None, gt=0)
    """Feedback, counted from its creation; files that were built from it are files."""
    usage_days: float | None = Field(None, gt=0)
    """Records of usage, and with them what usage and costs show of those days."""


class PricingSettings(SettingsSection):
    """Prices for `usage_metrics.estimated_cost` and for `/v1/organization/costs`. Usage without a
    price has no cost. A price counts from its setting on: recorded costs stay.
    """

    per_hour: float | None = Field(None, ge=0)
    """Price of an hour of a job's `training_time_s`."""
    per_million_input_tokens: float | None = Field(None, ge=0)
    """Price of prompts of chat completions."""
    per_million_output_tokens: float | None = Field(None, ge=0)
    """Price of answers of chat completions."""
    currency: str = Field("USD", min_length=1, max_length=16)
    """Name of the currency of all prices."""


class SandboxSettings(SettingsSection):
    """One runner per machine, and the limits of each program that it runs."""

    socket: Path | None = None
    """Unix socket of the runner; `None` is `sandbox.sock` in the data directory. With a path,
    `agent-rft up` starts no runner of its own.
    """
    floor: tuple[Layer, ...] = ("limits", "privileges", "seccomp")
    """Required layers: without them the runner does not start."""
    time_limit_s: float = Field(5.0, gt=0, le=120)
    """Limit of a program in seconds, both of processor time and of wall time, which excludes waits
    for a processor.
    """
    memory_bytes: int = Field(256 * 1024**2, ge=16 * 1024**2)
    """Memory of a program in addition to that of the warm interpreter."""
    parallel: int | None = Field(None, ge=1, le=256)
    """Programs that run at once; `None`: two for each core, and four at least."""
    per_project: int | None = Field(None, ge=1, le=256)
    """Programs of one project that run at once; `None`: three quarters of `parallel`."""
    per_organization: int | None = Field(None, ge=1, le=256)
    """Programs of all projects of one organization that run at once; `None`: seven eighths of
    `parallel`, and as many as `per_project` at least.
    """
    max_waiting: int = Field(512, ge=1)
    """Programs of one project that wait; one more is refused."""
    wait_limit_s: float = Field(300.0, gt=0)
    """Seconds that a program waits for its start; then it is refused."""
    modules: tuple[str, ...] = ()
    """Modules that programs may import in addition to the usual ones; they must be installed."""
    first_uid: int = Field(60_800, ge=1_000, le=4_294_000_000)
    """First of the `parallel` users that programs run as, where the runner starts as root."""


class ConfiguredSandbox(Sources):
    """Settings of a runner, which has no database."""

    sandbox: SandboxSettings = SandboxSettings()
    data_dir: Path = Path(".agent-rft")

    @property
    def sandbox_socket(self) -> Path:
        return socket_of(self.sandbox, self.data_dir)


def socket_of(sandbox: SandboxSettings, data_dir: Path) -> Path:
    # Absolute: API, workers and runner have working directories of their own.
    return (sandbox.socket or data_dir / "sandbox.sock").absolute()


_LAST_PORT: Final = 65_535


class TelemetrySettings(SettingsSection):
    """Metrics of workers and the export of spans, both off by default."""

    metrics_port: int | None = Field(None, ge=1, le=_LAST_PORT)
    """Port on which a worker serves its metrics; `None` serves none. `agent-rft up` chooses ports
    of its own if there is a `monitoring_key`.
    """
    metrics_host: str = "127.0.0.1"
    """Address of that port."""
    otlp_endpoint: str | None = None
    """Base URL of the collector of spans, such as `http://127.0.0.1:4318`; `None` leaves it to
    OpenTelemetry's own variables, and without them no span is recorded.
    """
    otlp_headers: dict[str, RevealedInJson] = Field(default_factory=dict)
    """Headers of the export, such as a key of the collector."""
    max_queued_spans: int = Field(4096, ge=1)
    """Spans of one process that wait for the collector; more are dropped and counted."""

    @override
    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # a dict has no hash of its own

    @field_validator("metrics_port", mode="after")
    @classmethod
    def _has_a_next_one(cls, port: int | None) -> int | None:
        if port == _LAST_PORT:
            raise ValueError(f"the second worker takes the next port: choose {port - 1} at most")
        return port

    @field_validator("otlp_endpoint", mode="after")
    @classmethod
    def _is_a_url(cls, endpoint: str | None) -> str | None:
        if endpoint and not endpoint.startswith(("http://", "https://")):
            raise ValueError("the endpoint of the collector must begin with http:// or https://")
        return endpoint or None  # compose files pass unset variables as empty ones

    def span_export(self) -> SpanExport | None:
        if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return None
        standard = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
        if self.otlp_endpoint is None and not any(map(os.environ.get, standard)):
            return None
        return SpanExport(
            self.otlp_endpoint,
            {name: value.get_secret_value() for name, value in self.otlp_headers.items()},
            most_queued=self.max_queued_spans,
        )


class WandbSettings(SettingsSection):
    """The operator's account at Weights & Biases, for jobs that send no key of their own."""

    api_key: RevealedInJson = SecretStr("")
    """Key of the account; without one, jobs without a key are written offline."""
    base_url: str = Field("https://api.wandb.ai", pattern=r"^https?://[^?#]+$")
    """Address of the server; another one than the default is a server of your own."""
    offline: bool = False
    """True writes every run offline, also that of a job with a key."""


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
    accepted_hosts: tuple[HostName, ...] = ()
    """Names under which the API and its pages answer, such as `rft.example.com` or `*.example.com`;
    without any, all names. `/healthz`, `/readyz` and `/metrics` answer under every name.
    """
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
        """Seconds without progress after which the process of a run is ended."""
        configured = self.lease.progress_s
        return max(1800.0, 2 * self.egress.call_timeout_s) if configured is None else configured

    @property
    def secret_keys(self) -> tuple[str, ...]:
        keys = (self.secret_key, *self.older_secret_keys)
        return tuple(key.get_secret_value() for key in keys)

    def derive_key(self, purpose: str) -> bytes:
        return derive_key(self.secret_key.get_secret_value(), purpose)

    @property
    def key_hmac(self) -> bytes:
        return self.derive_key(_KEY_HMAC)

    @property
    def older_key_hmacs(self) -> tuple[bytes, ...]:
        """Returns the HMAC keys of API keys that were created under older secret keys."""
        return tuple(derive_key(key, _KEY_HMAC) for key in self.secret_keys[1:])


@cache
def load_settings() -> Settings:
    """Reads the environment once per process. Raises `pydantic.ValidationError`."""
    return Settings()


def to_environment(settings: Settings) -> dict[str, str]:
    """Returns the tree as environment variables, of which `load_settings` makes an equal one."""
    values = ((name, getattr(settings, name)) for name in type(settings).model_fields)
    return {
        PREFIX + name.upper(): _to_variable(value) for name, value in values if value is not None
    }


def _to_variable(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, tuple):
        plain = (i.get_secret_value() if isinstance(i, SecretStr) else i for i in value)
        return json.dumps(list(plain), default=lambda model: model.model_dump(mode="json"))
    return str(value)


def inherited_environment() -> dict[str, str]:
    """Returns this process's environment without `AGENT_RFT_…` and locale, for a child process: an
    `LC_*` with a locale that is not installed makes initdb fail (measured).
    """
    excluded = ("LC_", "LANG", PREFIX)
    return {name: value for name, value in os.environ.items() if not name.startswith(excluded)}


def set_variables(names: Sequence[str]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def cache_directory() -> Path:
    """Returns the user's directory of caches, by the XDG base directory specification."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
