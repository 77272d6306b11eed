"""Settings of the sandbox that runs python graders and code of models."""

from pathlib import Path

from pydantic import Field

from app.domain.sandbox.layers import Layer
from app.settings.sources import SettingsSection, Sources


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
    """Returns the path of the runner's socket, absolute: API, workers and runner have working
    directories of their own.
    """
    return (sandbox.socket or data_dir / "sandbox.sock").absolute()
