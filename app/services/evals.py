"""Evals: make, look at, rename, delete. That of a job is made with the job and goes with it."""

from typing import Any, Literal

from app.domain.errors import EndpointRefused, InvalidRequest, WrongState
from app.domain.evals import Eval, NewEval, custom_config
from app.domain.graders import (
    EndpointGrader,
    ScoreModelGrader,
    SingleGrader,
    leaves,
)
from app.domain.ids import new_id
from app.domain.redaction import collect_headers, redact_grader
from app.domain.tenants import Tenant
from app.gateways.egress import Egress, check_headers
from app.gateways.secrets import SecretBox
from app.store.database import Database


class EvalService:
    def __init__(
        self, database: Database, egress: Egress, secret_box: SecretBox, tenant: Tenant
    ) -> None:
        self._database = database
        self._egress = egress
        self._secret_box = secret_box
        self._tenant = tenant

    async def create(self, new: NewEval) -> Eval:
        """Raises `InvalidRequest` for a grader that calls what may not be called."""
        for number, criterion in enumerate(new.criteria):
            for path, leaf in leaves(criterion, f"testing_criteria[{number}]"):
                await self._check_endpoint(leaf, path)
        sent = [one.model_dump(mode="json") for one in new.criteria]
        eval_id = new_id("eval_")
        made = Eval(
            id=eval_id,
            name=new.name or f"Eval {eval_id}",
            data_source_config=custom_config(
                new.item_schema, include_sample=new.include_sample_schema
            ),
            testing_criteria=[redact_grader(criterion) for criterion in sent],
            metadata=new.metadata,
        )
        headers = {
            str(number): found
            for number, criterion in enumerate(sent)
            if (found := collect_headers({"reinforcement": {"grader": criterion}}))
        }
        sealed = (
            self._secret_box.seal(headers, project_id=self._tenant.project_id, job_id=eval_id)
            if headers
            else None
        )
        async with self._database.tenant(self._tenant) as unit:
            await unit.evals.insert(made, secrets=sealed)
        return await self.get(eval_id)

    async def get(self, eval_id: str) -> Eval:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.get(eval_id)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        order_by: Literal["created_at", "updated_at"],
    ) -> tuple[list[Eval], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.page(
                after=after, limit=limit, descending=descending, order_by=order_by
            )

    async def update(self, eval_id: str, changes: dict[str, Any]) -> Eval:
        """`changes` may hold `name` and `metadata`."""
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.change(eval_id, changes)

    async def delete(self, eval_id: str) -> None:
        """With all its runs. Raises `WrongState` for a job's."""
        async with self._database.tenant(self._tenant) as unit:
            found = await unit.evals.get(eval_id)
            if found.job_id is not None:
                raise WrongState(f"Eval {eval_id} belongs to job {found.job_id}.")
            await unit.evals.delete(eval_id)

    async def _check_endpoint(self, grader: SingleGrader, path: str) -> None:
        if isinstance(grader, EndpointGrader):
            field, url = "url", grader.url
        elif isinstance(grader, ScoreModelGrader) and grader.base_url is not None:
            field, url = "base_url", grader.base_url
        else:
            return
        try:
            await self._egress.check_url(url)
        except EndpointRefused as error:
            raise _not_allowed(f"{path}.{field}", error) from error
        try:
            check_headers(grader.headers or {})
        except EndpointRefused as error:
            raise _not_allowed(f"{path}.headers", error) from error


def _not_allowed(param: str, error: EndpointRefused) -> InvalidRequest:
    return InvalidRequest(
        f"{param} is not allowed: {error}", param=param, code="endpoint_not_allowed"
    )
