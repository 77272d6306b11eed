"""Chooses the user that a server runs as when we are root. Postgres refuses to run as root.

Owns: the two ways around it, in order of preference, and the check that the second can work.
Promises: no directory above the data directory is made more open, no user is created.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from app.embedded.errors import DataDirUnusable

_SERVICE_USERS = ("postgres", "nobody")


class PopenArguments(TypedDict, total=False):
    user: int
    group: int
    extra_groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class RunAs:
    """Starts programs under the chosen identity."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def popen_arguments(self) -> PopenArguments:
        if self.uid is None or self.gid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give a directory that we made to the identity."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can(self, test: str, path: Path) -> bool:
        """Returns true if the identity passes `test -r`, `-w` or `-x` on the path."""
        done = subprocess.run(  # noqa: S603 - fixed program, no shell
            (*self.prefix, "/usr/bin/test", test, str(path)), check=False, **self.popen_arguments()
        )
        return done.returncode == 0


AS_OURSELVES = RunAs()
# Postgres sees uid 1000, files stay root's, 0700 parents stay, and the parent-death signal holds.
_MAPPED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def unprivileged() -> RunAs:
    """Ourselves when not root; else a user namespace; else an unprivileged user of the system.

    The namespace needs no chmod and no chown but is refused by docker's default seccomp filter.
    """
    if os.geteuid() != 0:
        return AS_OURSELVES
    if namespaces_work():
        return RunAs(prefix=_MAPPED)
    return service_user()


def namespaces_work() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    done = subprocess.run((*_MAPPED, "true"), check=False, capture_output=True)  # noqa: S603 - fixed
    return done.returncode == 0


def service_user() -> RunAs:
    """The first existing user of a short list, for machines that refuse user namespaces."""
    for name in _SERVICE_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return RunAs(uid=entry.pw_uid, gid=entry.pw_gid)
    raise DataDirUnusable(
        "Postgres does not run as root, this machine refuses user namespaces and has none of the "
        f"users {', '.join(_SERVICE_USERS)}: run agent-rft as an ordinary user"
    )
