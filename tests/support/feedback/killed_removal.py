"""Removes an end user as a process of the API does, and is killed:
`python -m tests.support.feedback.killed_removal TURN PROJECT END_USER`.
"""

import sys

from app.kit.callers import Tenant
from app.kit.ids import OrganizationId, ProjectId
from app.settings import load_settings
from app.wiring import Factory, ProcessContext
from tests.support.processes.counted_turns import run_turns


async def _remove(project_id: str, end_user: str) -> None:
    context = ProcessContext(load_settings())
    tenant = Tenant(
        organization_id=OrganizationId(""),
        project_id=ProjectId(project_id),
        organization_slug="",
        key_id="",
    )
    await Factory(context, tenant).end_users().remove(end_user)
    await context.aclose()


if __name__ == "__main__":
    run_turns(_remove(*sys.argv[2:]), int(sys.argv[1]))
