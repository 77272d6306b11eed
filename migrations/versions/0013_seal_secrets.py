"""Seals or redacts secrets that earlier versions stored in clear.

Walks the methods of jobs, registered tools and graders, and evals by a frozen copy of the shape of
tools and graders: known keys keep their values, names of a multi grader's children are names, and
the walk for free-form JSON judges the rest. Keys of a registered tool or grader that nobody reads
and that the service now refuses are dropped. An eval's data source is only redacted, since nobody
reads its schema's values.

With AGENT_RFT_SECRET_KEY set, a found secret moves into the row's sealed envelope, and a run that
needs it continues. Without the key, or where an envelope cannot be opened, the value is redacted in
place and is lost: a job, tool or grader whose URL held a secret in its query has to be made again.
The copy of a job's grader in its eval is only redacted, since the job seals the secret. Row-level
security does not bind the owning role within this transaction. No downgrade brings the clear text
back.

Revision ID: 0013
Revises: 0012
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.kit.fields import Path, pointer, replace_at
from app.kit.redaction import (
    by_pointer,
    criteria_by_pointer,
    owners_of_grader,
    owners_of_method,
    owners_of_tool,
)
from app.kit.sealing import SecretBox, SecretsUnreadable
from app.kit.secret_echoes import REDACTED
from app.kit.secret_finding import Found, secrets_in
from app.kit.secrets import secret_name_class
from app.settings import HostSettings

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLES = ("fine_tuning_jobs", "registered_versions", "evals")
_JOBS = sa.table(
    "fine_tuning_jobs",
    sa.column("id"),
    sa.column("project_id"),
    sa.column("method", JSONB),
    sa.column("secrets", sa.LargeBinary),
)
_VERSIONS = sa.table(
    "registered_versions",
    sa.column("object_id"),
    sa.column("version"),
    sa.column("project_id"),
    sa.column("definition", JSONB),
    sa.column("secrets", sa.LargeBinary),
)
_EVALS = sa.table(
    "evals",
    sa.column("id"),
    sa.column("project_id"),
    sa.column("job_id"),
    sa.column("data_source_config", JSONB),
    sa.column("testing_criteria", JSONB),
    sa.column("secrets", sa.LargeBinary),
)


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    box = _box()
    _jobs(op.get_bind(), box)
    _registered(op.get_bind(), box)
    _evals(op.get_bind(), box)
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    """Changes no rows: earlier versions can read them, without the values that are sealed now."""


def _box() -> SecretBox | None:
    key = HostSettings().secret_key
    return None if key is None else SecretBox(key.get_secret_value())


def _jobs(connection: sa.Connection, box: SecretBox | None) -> None:
    for row in connection.execute(sa.select(_JOBS)).all():
        envelope = _Envelope(box, row.secrets, row.project_id, row.id)
        shown, secrets = _redacted(row.method, _in_method)
        if shown == row.method:
            continue
        known = envelope.opened()
        sealed = row.secrets
        if known is not None:
            known = by_pointer(known, owners_of_method(row.method))
            sealed = envelope.seal({**known, **secrets})
        connection.execute(
            sa.update(_JOBS)
            .where(_JOBS.c.project_id == row.project_id, _JOBS.c.id == row.id)
            .values(method=shown, secrets=sealed)
        )


def _registered(connection: sa.Connection, box: SecretBox | None) -> None:
    of_interest = sa.or_(*(_VERSIONS.c.object_id.startswith(one) for one in ("tool_", "grader_")))
    for row in connection.execute(sa.select(_VERSIONS).where(of_interest)).all():
        envelope = _Envelope(
            box, row.secrets, row.project_id, f"{row.object_id}/versions/{row.version}"
        )
        tool = row.object_id.startswith("tool_")
        read = _read_of_tool(row.definition) if tool else _read_of_grader(row.definition)
        shown, secrets = _redacted(read, _in_tool if tool else _in_grader)
        if shown == row.definition:
            continue
        owners = owners_of_tool if tool else owners_of_grader
        known = envelope.opened()
        sealed = row.secrets
        if known is not None and (known or secrets):
            known = by_pointer(known, owners(row.definition))
            sealed = envelope.seal({**known, **secrets})
        connection.execute(
            sa.update(_VERSIONS)
            .where(
                _VERSIONS.c.project_id == row.project_id,
                _VERSIONS.c.object_id == row.object_id,
                _VERSIONS.c.version == row.version,
            )
            .values(definition=shown, secrets=sealed)
        )


def _evals(connection: sa.Connection, box: SecretBox | None) -> None:
    for row in connection.execute(sa.select(_EVALS)).all():
        envelope = _Envelope(box, row.secrets, row.project_id, row.id)
        shown, secrets = _redacted(row.testing_criteria, _in_criteria)
        config, _ = _redacted(row.data_source_config, secrets_in)
        if (shown, config) == (row.testing_criteria, row.data_source_config):
            continue
        known = envelope.opened()
        sealed = row.secrets
        if known is not None and row.job_id is None and (known or secrets):
            known = criteria_by_pointer(known, row.testing_criteria)
            sealed = envelope.seal({**known, **secrets})
        connection.execute(
            sa.update(_EVALS)
            .where(_EVALS.c.project_id == row.project_id, _EVALS.c.id == row.id)
            .values(testing_criteria=shown, data_source_config=config, secrets=sealed)
        )


@dataclass(frozen=True, slots=True)
class _Envelope:
    """The sealed part of one row."""

    box: SecretBox | None
    sealed: bytes | None
    project_id: str
    row_id: str

    def opened(self) -> dict[str, Any] | None:
        """Returns the secrets that are already sealed; `None` if no key opens them."""
        if self.box is None:
            return None
        if self.sealed is None:
            return {}
        try:
            return self.box.open(self.sealed, project_id=self.project_id, row_id=self.row_id)
        except SecretsUnreadable:
            return None

    def seal(self, secrets: dict[str, Any]) -> bytes | None:
        if self.box is None:
            return None
        return self.box.seal(secrets, project_id=self.project_id, row_id=self.row_id)


_Walk = Callable[[Any, Path], Iterator[Found]]
_TOOL_KEYS: Final = frozenset({"name", "server_url", "headers", "parameters"})
_GRADER_KEYS: Final = {
    "endpoint": {"type", "name", "pass_threshold", "url", "headers", "rate_limit"},
    "string_check": {"type", "name", "pass_threshold", "input", "reference", "operation"},
    "text_similarity": {
        "type", "name", "pass_threshold", "input", "reference", "evaluation_metric",
    },
    "score_model": {
        "type", "name", "pass_threshold", "model", "input", "range", "sampling_params", "base_url",
        "headers",
    },
    "multi": {"type", "name", "pass_threshold", "graders", "calculate_output", "invalid_grade"},
}  # fmt: skip
_GRADER_PLAIN: Final = frozenset(
    {
        "type", "name", "pass_threshold", "rate_limit", "reference", "operation", "model", "range",
        "evaluation_metric", "calculate_output", "invalid_grade",
    }
)  # fmt: skip
_METHOD_PLAIN: Final = frozenset(
    {
        "mode", "loss", "advantage", "objective", "mismatch", "stop", "keep_checkpoints",
        "max_episode_steps",
    }
)  # fmt: skip
_REFUSED: Final = frozenset(
    {
        "mcp_servers", "mcp", "environment", "environments", "sandbox", "rubric", "rubrics",
        "group_grader", "auth", "oauth",
    }
)  # fmt: skip
"""Keys that the service refuses whatever their value."""


def _redacted(document: Any, walk: _Walk) -> tuple[Any, dict[str, Any]]:
    """Returns a redacted copy and the secrets by JSON pointer."""
    found = [one for one in walk(document, ()) if one[1] not in (one[2], REDACTED)]
    copy = deepcopy(document)
    for path, _, shown in found:
        replace_at(copy, pointer(path), shown)
    return copy, {pointer(path): value for path, value, _ in found}


def _in_object(
    value: Any, path: Path, plain: frozenset[str], below: dict[str, _Walk]
) -> Iterator[Found]:
    """`plain` keys hold no secrets; `below` says how to walk others; the rest is free-form."""
    if not isinstance(value, dict):
        yield from secrets_in(value, path)
        return
    for key, one in value.items():
        if key in below:
            yield from below[key](one, (*path, key))
        elif key not in plain:
            yield from secrets_in(one, (*path, key), credential=secret_name_class(key))


def _in_tool(tool: Any, path: Path) -> Iterator[Found]:
    return _in_object(tool, path, frozenset({"name"}), {})


def _in_grader(grader: Any, path: Path) -> Iterator[Found]:
    return _in_object(grader, path, _GRADER_PLAIN, {"graders": _in_children, "input": _in_input})


def _in_children(children: Any, path: Path) -> Iterator[Found]:
    for name, child in children.items() if isinstance(children, dict) else ():
        yield from _in_grader(child, (*path, name))


def _in_input(value: Any, path: Path) -> Iterator[Found]:
    """A template's text, or messages, whose roles and texts are no secrets."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _in_input(one, (*path, number))
    elif isinstance(value, dict):
        yield from _in_object(
            value, path, frozenset({"role", "type", "text"}), {"content": _in_input}
        )


def _in_criteria(criteria: Any, path: Path) -> Iterator[Found]:
    for number, one in enumerate(criteria):
        yield from _in_grader(one, (*path, number))


def _in_tools(tools: Any, path: Path) -> Iterator[Found]:
    for number, one in enumerate(tools or ()):
        yield from _in_tool(one, (*path, number))


def _in_method(method: Any, path: Path) -> Iterator[Found]:
    return _in_object(method, path, frozenset({"type"}), {"reinforcement": _in_reinforcement})


def _in_reinforcement(options: Any, path: Path) -> Iterator[Found]:
    return _in_object(options, path, _METHOD_PLAIN, {"tools": _in_tools, "grader": _in_grader})


def _read_of_tool(tool: dict[str, Any]) -> dict[str, Any]:
    return _accepted(tool, _TOOL_KEYS)


def _read_of_grader(grader: dict[str, Any]) -> dict[str, Any]:
    kind = grader.get("type")
    keys = _GRADER_KEYS.get(kind) if isinstance(kind, str) else None
    if keys is None:
        return grader
    kept = _accepted(grader, keys)
    if isinstance(children := kept.get("graders"), dict):
        kept["graders"] = {name: _read_of_grader(child) for name, child in children.items()}
    return kept


def _accepted(sent: dict[str, Any], known: frozenset[str] | set[str]) -> dict[str, Any]:
    """Drops the unknown keys that the service refuses: features to come, objects and lists."""
    return {
        key: one
        for key, one in sent.items()
        if key in known
        or one is None
        or (key.casefold() not in _REFUSED and not isinstance(one, dict | list))
    }
