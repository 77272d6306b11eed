"""Every list of the Python client, with 250 rows in it, and what each must give."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.contract.service import Service

COUNT = 250
MODEL = "ft:tiny-agent-2026-11-23:first:paged:abcd1234"
BARE_MODEL = "ft:tiny-agent-2026-11-23:first:bare:abcd1234"
# Three rows share each second, so that only their ids distinguish them.
NEWEST_FIRST = sorted(range(1, COUNT + 1), key=lambda n: (n // 3, -n))
LATEST_FIRST = list(range(COUNT, 0, -1))


@dataclass(frozen=True, slots=True)
class ListedRows:
    """Ids of what has 250 rows, and of what has none. Rows are called `<source>-<number>`."""

    job: str
    file: str
    eval: str
    run: str
    item: str
    listed_eval: str
    bare_job: str
    bare_eval: str
    bare_run: str
    newest_eval: str
    project: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A list call, the ids it must give, the same call where nothing is, and a row still newer."""

    table: str
    call: Callable[..., Any]
    ids: Callable[[ListedRows], list[str]]
    nothing: Callable[[Any, ListedRows], Any]
    newer: Callable[[Service, ListedRows], str]
    """Adds it and says its id."""
    ascending: bool = False
    counted: Callable[[ListedRows], str] = lambda _: ""
    """Prefix of the ids when the list has other rows too."""


def copies(service: Service, table: str, source: str, numbers: tuple[int, int], own: str) -> None:
    """Rows like one of a table; the higher the number, the older. `own` gives more columns."""
    columns = service.columns(table)
    service.execute(
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM (SELECT"
        f" (jsonb_populate_record(one, jsonb_build_object("
        " 'id', one.id || '-' || lpad(n::text, 3, '0'),"
        f" 'created_at', one.created_at - (n / 3) * interval '1 second', {own}))).*"
        f" FROM {table} one, generate_series(%s::int, %s::int) n WHERE one.id = %s) copies",
        *numbers,
        source,
    )


OWN = {
    "fine_tuning_jobs": "'metadata', '{\"copy\": \"yes\"}'::jsonb",
    "files": "'purpose', 'vision'",
    "evals": "'name', 'copy'",
    "eval_runs": "'status', 'canceled'",
    "eval_output_items": "'status', 'fail', 'position', 1000 + n",
}


def newer_copy(
    table: str, source: Callable[[ListedRows], str]
) -> Callable[[Service, ListedRows], str]:
    """Adds a row above all the copies and says its id."""

    def add(service: Service, rows: ListedRows) -> str:
        copies(service, table, source(rows), (999, 999), OWN[table])
        service.execute(
            f"UPDATE {table} SET created_at = now() + interval '1 minute' WHERE id = %s",
            f"{source(rows)}-999",
        )
        return f"{source(rows)}-999"

    return add


def newer_event(service: Service, rows: ListedRows) -> str:
    service.execute(
        "INSERT INTO job_events (id, project_id, job_id, level, type, message)"
        " SELECT 'ftevent-newer', project_id, id, 'info', 'message', 'newer'"
        " FROM fine_tuning_jobs WHERE id = %s",
        rows.job,
    )
    return "ftevent-newer"


def newer_checkpoint(service: Service, rows: ListedRows) -> str:
    service.execute(
        "INSERT INTO checkpoints (id, project_id, job_id, step, model_name, object_key, metrics)"
        " SELECT 'ftckpt_newer', project_id, id, 999, 'ft:x:ckpt-step-999', 'k', '{}'"
        " FROM fine_tuning_jobs WHERE id = %s",
        rows.job,
    )
    return "ftckpt_newer"


def permit(service: Service, rows: ListedRows, numbers: tuple[int, int]) -> None:
    service.execute(
        "INSERT INTO checkpoint_permissions"
        " (id, organization_id, project_id, model_name, target_project_id, created_at)"
        " SELECT 'cp_' || lpad(n::text, 3, '0'), organization_id, id, %s, 'proj_more' || n,"
        " now() - (n / 3) * interval '1 second' FROM projects, generate_series(%s::int, %s::int) n"
        " WHERE id = %s",
        MODEL,
        *numbers,
        rows.project,
    )


def newer_permission(service: Service, rows: ListedRows) -> str:
    permit(service, rows, (COUNT + 1, COUNT + 1))
    newest = "UPDATE checkpoint_permissions SET created_at = now() + interval '1m' WHERE id = %s"
    service.execute(newest, f"cp_{COUNT + 1}")
    return f"cp_{COUNT + 1}"


def numbered(
    source: Callable[[ListedRows], str], numbers: list[int]
) -> Callable[[ListedRows], list[str]]:
    return lambda rows: [f"{source(rows)}-{number:03}" for number in numbers]


def jobs(client: Any, _: ListedRows, **options: Any) -> Any:
    return client.fine_tuning.jobs.list(metadata={"copy": "yes"}, **options)


def runs(client: Any, rows: ListedRows, **options: Any) -> Any:
    return client.evals.runs.list(rows.eval, status="canceled", **options)


def files(client: Any, _: ListedRows, **options: Any) -> Any:
    return client.files.list(purpose="vision", **options)


def evals(client: Any, _: ListedRows, **options: Any) -> Any:
    return client.evals.list(**options)


def items(client: Any, rows: ListedRows, **options: Any) -> Any:
    listed = client.evals.runs.output_items.list
    return listed(rows.run, eval_id=rows.eval, status="fail", **options)


def permissions(client: Any, _: ListedRows, **options: Any) -> Any:
    return client.fine_tuning.checkpoints.permissions.list(MODEL, **options)


LISTINGS = {
    "jobs": Listing(
        "fine_tuning_jobs",
        jobs,
        numbered(lambda rows: rows.job, NEWEST_FIRST),
        lambda client, _: client.fine_tuning.jobs.list(metadata={"copy": "none"}),
        newer_copy("fine_tuning_jobs", lambda rows: rows.job),
    ),
    "events": Listing(
        "job_events",
        lambda client, rows, **options: client.fine_tuning.jobs.list_events(rows.job, **options),
        lambda _: [f"ftevent-{number}" for number in LATEST_FIRST],
        lambda client, rows: client.fine_tuning.jobs.list_events(rows.bare_job),
        newer_event,
    ),
    "checkpoints": Listing(
        "checkpoints",
        lambda client, rows, **options: client.fine_tuning.jobs.checkpoints.list(
            rows.job, **options
        ),
        lambda _: [f"ftckpt_{number}" for number in LATEST_FIRST],
        lambda client, rows: client.fine_tuning.jobs.checkpoints.list(rows.bare_job),
        newer_checkpoint,
    ),
    "files": Listing(
        "files",
        files,
        numbered(lambda rows: rows.file, NEWEST_FIRST),
        lambda client, _: client.files.list(purpose="evals"),
        newer_copy("files", lambda rows: rows.file),
    ),
    "files upwards": Listing(
        "files",
        lambda client, rows, **options: files(client, rows, order="asc", **options),
        numbered(lambda rows: rows.file, NEWEST_FIRST[::-1]),
        lambda client, _: client.files.list(purpose="evals", order="asc"),
        newer_copy("files", lambda rows: rows.file),
        ascending=True,
    ),
    "evals": Listing(
        "evals",
        evals,
        numbered(lambda rows: rows.listed_eval, NEWEST_FIRST[::-1]),
        lambda client, rows: client.evals.list(after=rows.newest_eval),
        newer_copy("evals", lambda rows: rows.listed_eval),
        ascending=True,
        counted=lambda rows: f"{rows.listed_eval}-",
    ),
    "runs": Listing(
        "eval_runs",
        runs,
        numbered(lambda rows: rows.run, NEWEST_FIRST[::-1]),
        lambda client, rows: client.evals.runs.list(rows.bare_eval),
        newer_copy("eval_runs", lambda rows: rows.run),
        ascending=True,
    ),
    "runs downwards": Listing(
        "eval_runs",
        lambda client, rows, **options: runs(client, rows, order="desc", **options),
        numbered(lambda rows: rows.run, NEWEST_FIRST),
        lambda client, rows: client.evals.runs.list(rows.bare_eval, order="desc"),
        newer_copy("eval_runs", lambda rows: rows.run),
    ),
    "items": Listing(
        "eval_output_items",
        items,
        numbered(lambda rows: rows.item, LATEST_FIRST[::-1]),
        lambda client, rows: client.evals.runs.output_items.list(rows.bare_run, eval_id=rows.eval),
        newer_copy("eval_output_items", lambda rows: rows.item),
        ascending=True,
    ),
    "permissions": Listing(
        "checkpoint_permissions",
        permissions,
        lambda _: [f"cp_{number:03}" for number in NEWEST_FIRST],
        lambda client, _: client.fine_tuning.checkpoints.permissions.list(BARE_MODEL),
        newer_permission,
    ),
    "permissions upwards": Listing(
        "checkpoint_permissions",
        lambda client, rows, **options: permissions(client, rows, order="ascending", **options),
        lambda _: [f"cp_{number:03}" for number in NEWEST_FIRST[::-1]],
        lambda client, _: client.fine_tuning.checkpoints.permissions.list(BARE_MODEL),
        newer_permission,
        ascending=True,
    ),
}
