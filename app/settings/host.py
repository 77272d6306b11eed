"""Settings of the single-machine supervisor."""

from pathlib import Path

from pydantic import Field, SecretStr

from app.settings.database import DatabaseUrl
from app.settings.secret_key import SecretKey
from app.settings.sources import Sources


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
    """Directory that contains `postgres` and `initdb`; `None` takes those of the package."""
    valkey_bin: Path | None = None
    """Executable of Valkey or Redis; `None` takes that of the package."""
    vllm_python: Path | None = None
    """Interpreter of an environment that has vLLM; `None` is that of a checkout."""
