"""Use cases of evals: creation, listing, renaming, deletion. Every existing job has one."""

import asyncio
import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

from app.domain.accounts.tenants import Tenant
from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField, walk_fields
from app.domain.errors import InvalidRequest, WrongState, refused_value
from app.domain.evals.criterion_paths import path_fault
from app.domain.evals.evals import Eval, EvalOrder, NewEval, custom_config
from app.domain.faults.no_effect import NoEffect
from app.domain.faults.schemas import schema_fault
from app.domain.faults.unknown_keys import refused_wholly
from app.domain.graders.effects.sample_reads import constant_scores
from app.domain.graders.graders import GRADER_MODELS
from app.domain.ids import new_id
from app.domain.secrets.bounds import bound_faults
from app.domain.secrets.redaction import SecretValues, redact_in_place, shown_free_form
from app.services.models.judge_models import JudgeModels
from app.services.registry.definition_check import check_definitions
from app.services.registry.registered_objects import MAX_DEFINITION_BYTES, RegistryPorts
from app.store.database import Database


class EvalService:
    def __init__(
        self, database: Database, ports: RegistryPorts, tenant: Tenant, *, models: JudgeModels
    ) -> None:
        """`models`: the models that may be judges."""
        self._database = database
        self._ports = ports
        self._tenant = tenant
        self._models = models

    async def create(self, new: NewEval) -> Eval:
        """Creates an eval. Raises `InvalidRequest` for an invalid schema, a misspelt key of a
        grader, and a grader whose address or judge may not or cannot be called.
        """
        await asyncio.to_thread(_check_unread, new)
        unread = await check_definitions(
            [
                (f"testing_criteria[{number}]", criterion)
                for number, criterion in enumerate(new.criteria)
            ],
            egress=self._ports.egress,
            models=self._models,
        )
        sent = [criterion.model_dump(mode="json") for criterion in new.criteria]
        if len(json.dumps([sent, new.item_schema])) > MAX_DEFINITION_BYTES:
            raise InvalidRequest(
                f"An eval is larger than {MAX_DEFINITION_BYTES} bytes.",
                param="testing_criteria",
                code="invalid_value",
            )
        eval_id = new_id("eval_")
        shown, secrets, item_schema = await asyncio.to_thread(_split, sent, new.item_schema)
        made = Eval(
            id=eval_id,
            name=new.name or f"Eval {eval_id}",
            data_source_config=custom_config(item_schema, include_sample=new.include_sample_schema),
            testing_criteria=shown,
            metadata=new.metadata,
        )
        sealed = (
            self._ports.secret_box.seal(secrets, project_id=self._tenant.project_id, row_id=eval_id)
            if secrets
            else None
        )
        async with self._database.tenant(self._tenant) as unit:
            stored = [made.data_source_config, made.testing_criteria]
            await unit.quotas.check_bytes(len(json.dumps(stored)))
            await unit.evals.insert(made, secrets=sealed)
        unused = await asyncio.to_thread(_unused, new)
        return replace(await self.get(eval_id), unread=unread, unused=unused)

    async def get(self, eval_id: str) -> Eval:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.get(eval_id)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        order_by: EvalOrder,
    ) -> tuple[list[Eval], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.page(
                after=after, limit=limit, descending=descending, order_by=order_by
            )

    async def update(self, eval_id: str, changes: dict[str, Any]) -> Eval:
        """Changes an eval; `changes` may contain `name` and `metadata`."""
        async with self._database.tenant(self._tenant) as unit:
            return await unit.evals.change(eval_id, changes)

    async def delete(self, eval_id: str) -> None:
        """Deletes an eval and its runs. Raises `WrongState` for the eval of a job."""
        async with self._database.tenant(self._tenant) as unit:
            found = await unit.evals.get(eval_id)
            if found.job_id is not None:
                raise WrongState(f"Eval {eval_id} belongs to job {found.job_id}.")
            await unit.evals.delete(eval_id)


def _check_unread(new: NewEval) -> None:
    found = schema_fault(new.item_schema)
    if found is not None:
        path, reason = found
        param = parameter("data_source_config.item_schema", path)
        raise refused_value(param, f"it is not a JSON schema ({reason})")
    for number, criterion in enumerate(new.criteria):
        for field in walk_fields(type(criterion), criterion):
            root = f"testing_criteria[{number}]"
            fault = refused_wholly(field, root, only_near=True) or path_fault(
                field, root, item_schema=new.item_schema
            )
            if fault is not None:
                raise fault


def _unused(new: NewEval) -> tuple[NoEffect, ...]:
    return tuple(
        warning
        for number, criterion in enumerate(new.criteria)
        for warning in constant_scores(criterion, f"testing_criteria[{number}]")
    )


def _split(
    criteria: list[dict[str, Any]], item_schema: dict[str, Any]
) -> tuple[list[dict[str, Any]], SecretValues, dict[str, Any]]:
    """Returns the redacted criteria, their secrets, and the redacted schema, whose secrets are
    dropped.

    Raises `InvalidRequest` for a schema with too many secrets or too long a key.
    """
    field = WalkedField(FieldKind.FREE_FORM, (), item_schema, None)
    for fault in bound_faults([("data_source_config.item_schema", field)]):
        raise fault
    shown = deepcopy(criteria)
    secrets: SecretValues = {}
    for number, criterion in enumerate(shown):
        walked = list(walk_fields(GRADER_MODELS, criterion, (number,)))
        secrets |= redact_in_place(shown, walked)
    return shown, secrets, shown_free_form(item_schema)
