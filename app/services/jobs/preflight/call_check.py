"""Checks a create call as a whole: its references, the refusal of a create call, and preflight.

Owns the order of their errors. Must not know how the call came over the wire.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.preflight import PreflightReport, issue_of
from app.domain.jobs.creation.requests import JobRequest
from app.services.jobs.creation.creation import JobCreationService
from app.services.jobs.preflight.preflight import PreflightService
from app.services.jobs.preflight.readable_calls import ReadableCalls


@dataclass(frozen=True, slots=True)
class CallCheck:
    readable: ReadableCalls
    creation: JobCreationService
    preflight: PreflightService

    async def report(
        self, body: dict[str, Any], new: JobRequest | None, faults: Sequence[PreflightIssue]
    ) -> PreflightReport:
        """Returns the report on the JSON of a call; no job is made. `new` is the call as a domain
        value, or `None` if it cannot be parsed, and `faults` are those of its parsing.
        """
        async with self.readable.readable(body, new) as call:
            refusal = call.fault
            if new is not None:
                new = new.with_grader(call.grader_choice)
                if refusal is None:
                    refusal = await self.creation.refusal(new.with_files(call.body))
            known = {fault.param for fault in faults if new is None}
            found = [] if refusal is None or refusal.param in known else [issue_of(refusal)]
            # The first error is the one that a create call answers with.
            issues = [*faults, *found] if new is None else [*found, *faults]
            report = await self.preflight.check(
                call.body, new, [*issues, *call.warnings], servers=call.servers
            )
            return replace(report, grader_choice=call.grader_choice)
