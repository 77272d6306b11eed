"""What only this installation can say about a grader: may its addresses be called, is its model
served. Nothing is called.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from app.domain.errors import EndpointRefused, InvalidRequest
from app.domain.graders.graders import (
    EndpointGrader,
    MultiGrader,
    ScoreModelGrader,
    SingleGrader,
    leaves,
)
from app.gateways.egress.egress import Egress
from app.gateways.egress.headers import check_headers
from app.gateways.inference.judges import chat_url
from app.services.models.judge_models import JudgeModels

CHECK_LIMIT_S: Final = 20.0


async def check_grader(
    grader: SingleGrader | MultiGrader, path: str, *, egress: Egress, models: JudgeModels
) -> None:
    """Raises `InvalidRequest` with the parameter at fault, however deep, below `path`."""
    await check_graders([(path, grader)], egress=egress, models=models)


async def check_graders(
    graders: Sequence[tuple[str, SingleGrader | MultiGrader]],
    *,
    egress: Egress,
    models: JudgeModels,
) -> None:
    """Graders with their paths, all within `CHECK_LIMIT_S`: a request may hold a transaction
    meanwhile, and a customer's name server may take its time for each of very many names.
    """
    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            for path, grader in graders:
                for param, leaf in leaves(grader, path):
                    await _check_leaf(leaf, param, egress=egress, models=models)
    except TimeoutError:
        raise InvalidRequest(
            f"The addresses of the graders could not be looked up within {CHECK_LIMIT_S:g} s.",
            param=graders[0][0],
            code="endpoint_not_allowed",
        ) from None


async def _check_leaf(
    leaf: SingleGrader, param: str, *, egress: Egress, models: JudgeModels
) -> None:
    match leaf:
        case EndpointGrader():
            await check_address(leaf.url, leaf.headers, egress=egress, owner=param, field="url")
        case ScoreModelGrader():
            await _check_judge(leaf, param, egress=egress, models=models)
        case _:
            return


async def _check_judge(
    grader: ScoreModelGrader, param: str, *, egress: Egress, models: JudgeModels
) -> None:
    if grader.base_url is not None:
        await check_address(
            chat_url(grader.base_url),
            grader.headers,
            egress=egress,
            owner=param,
            field="base_url",
        )
    elif not await models.knows(grader.model):
        raise InvalidRequest(
            f"The model '{grader.model}' does not exist: a judge is a model of this project, one "
            "that the operator configured, or one behind the grader's own 'base_url'.",
            param=f"{param}.model",
            code="model_not_found",
        )


async def check_address(
    url: str, headers: dict[str, str] | None, *, egress: Egress, owner: str, field: str
) -> None:
    """Raises `InvalidRequest` (`endpoint_not_allowed`) at `owner.field` or `owner.headers`."""
    prefix = f"{owner}." if owner else ""
    try:
        await egress.check_url(url)
    except EndpointRefused as error:
        raise _not_allowed(field, f"{prefix}{field}", error) from error
    try:
        check_headers(headers or {})
    except EndpointRefused as error:
        raise _not_allowed("headers", f"{prefix}headers", error) from error


def _not_allowed(field: str, param: str, error: EndpointRefused) -> InvalidRequest:
    return InvalidRequest(
        f"{field} is not allowed: {error}", param=param, code="endpoint_not_allowed"
    )
