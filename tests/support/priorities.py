"""The priority of processes for the processor, as the kernel reports it."""

from pathlib import Path


def session_niceness(pid: int) -> int | None:
    """Returns the niceness of a process's session, `None` where the kernel has no such thing."""
    try:
        line = Path(f"/proc/{pid}/autogroup").read_text()
    except FileNotFoundError:
        return None
    return int(line.split()[-1]) if line.strip() else None
