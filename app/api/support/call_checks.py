"""Checks the body of a create call as `validate` does, for the routes that need the report."""

from dataclasses import replace
from typing import Any

from app.api.schemas.preflight import read_call
from app.domain.jobs.creation.preflight import PreflightReport, issue_of
from app.factory.project import Factory


async def check_call(body: dict[str, Any], services: Factory) -> PreflightReport:
    """Returns the report on a create call; no job is made."""
    new, faults = read_call(body)
    async with services.readable_calls().readable(body, new) as call:
        refusal = call.fault
        if new is not None:
            new = new.with_grader(call.grader_choice)
            if refusal is None:
                refusal = await services.job_creation().refusal(new.with_files(call.body))
        known = {fault.param for fault in faults if new is None}
        found = [] if refusal is None or refusal.param in known else [issue_of(refusal)]
        # The first error is the one that a create call answers with.
        issues = [*faults, *found] if new is None else [*found, *faults]
        report = await services.preflight().check(
            call.body, new, [*issues, *call.warnings], servers=call.servers
        )
        return replace(report, grader_choice=call.grader_choice)
