"""Makes triggers that write the audit log: each change of an audited row by an actor is an entry,
in the transaction of the change.

The actor is the setting `app.actor`: kind, id and address, separated by spaces. A transaction
without it, such as a worker's, leaves no entry.
"""

from dataclasses import dataclass

from alembic import op

ACTOR = "nullif(current_setting('app.actor', true), '')"
OF_THE_PROJECT = "(SELECT organization_id FROM public.projects AS p WHERE p.id = {row}.project_id)"


@dataclass(frozen=True)
class AuditedChange:
    """A kind of change. In its SQL, `{row}` is the row: `NEW`, or `OLD` of a deletion."""

    table: str
    verb: str
    """`created`, `deleted` and so on: names the trigger and, behind `noun`, the event."""
    on: str
    """`INSERT`, `DELETE`, or `UPDATE OF` with the columns."""
    noun: str
    """SQL of a text, such as `'file'`."""
    when: str = "true"
    details: str = "'{{}}'::jsonb"
    """SQL of what the entry shows of the row; never a secret."""
    resource: str = "{row}.id"
    project: str = "{row}.project_id"
    organization: str = OF_THE_PROJECT

    @property
    def name(self) -> str:
        return f"audit_{self.table}_{self.verb}_{self.on.split()[0].lower()}"

    def sql(self, text: str) -> str:
        return text.format(row="OLD" if self.on == "DELETE" else "NEW")


def audit(change: AuditedChange) -> None:
    values = ", ".join(
        change.sql(text)
        for text in (
            change.organization,
            change.project,
            f"{change.noun} || '.{change.verb}'",
            change.resource,
            change.details,
        )
    )
    op.execute(f"""
        CREATE FUNCTION {change.name}() RETURNS trigger
        LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
        AS $$
        DECLARE actor text := {ACTOR};
        BEGIN
            INSERT INTO public.audit_logs
                (id, organization_id, project_id, type, resource_id, details,
                 actor_kind, actor_id, address)
            VALUES ('audit_log-' || replace(gen_random_uuid()::text, '-', ''), {values},
                    split_part(actor, ' ', 1), split_part(actor, ' ', 2),
                    split_part(actor, ' ', 3));
            RETURN NULL;
        END
        $$
    """)  # noqa: S608 - constants
    condition = f"{ACTOR} IS NOT NULL AND ({change.sql(change.when)})"
    op.execute(
        f"CREATE TRIGGER {change.name} AFTER {change.on} ON {change.table}"
        f" FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {change.name}()"
    )
