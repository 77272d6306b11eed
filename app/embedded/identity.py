"""Chooses the user that Postgres runs as when the supervisor is root: Postgres refuses root.

Owns: the two solutions in order of preference (a user namespace, a service user) and the access
check that the second one needs.
Promises: no directory above the data directory gets wider permissions, and no user is created.
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
    """Identity that a program runs under: a command prefix, or a user and group id."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def popen_arguments(self) -> PopenArguments:
        if self.uid is None or self.gid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Changes the owner of a directory or file of the installation to the identity."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can(self, test: str, path: Path) -> bool:
        """Returns true if the identity passes `test -r`, `-w` or `-x` on the path."""
        result = subprocess.run(  # noqa: S603 - fixed program, no shell
            (*self.prefix, "/usr/bin/test", test, str(path)), check=False, **self.popen_arguments()
        )
        return result.returncode == 0


AS_OURSELVES = RunAs()
# Postgres sees uid 1000; files still belong to root, parents keep mode 0700, and the parent-death
# signal still works.
_MAPPED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def unprivileged_user() -> RunAs:
    """Returns the current user if it is not root, else a user namespace, else an existing
    unprivileged user.

    The namespace needs no chmod and no chown, but docker's default seccomp filter refuses it.
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
    result = subprocess.run((*_MAPPED, "true"), check=False, capture_output=True)  # noqa: S603 - fixed
    return result.returncode == 0


def service_user() -> RunAs:
    """Returns the first existing user of a short list, for machines that refuse user namespaces.

    Raises `DataDirUnusable` if none exists.
    """
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
