from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.eval_run_status import check_eval_run_status
from ...models.eval_run_status import EvalRunStatus
from ...models.get_eval_runs_order import check_get_eval_runs_order
from ...models.get_eval_runs_order import GetEvalRunsOrder
from ...models.page_eval_run_object import PageEvalRunObject
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    eval_id: str,
    *,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetEvalRunsOrder | Unset = 'asc',
    status: EvalRunStatus | None | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    json_status: None | str | Unset
    if isinstance(status, Unset):
        json_status = UNSET
    elif isinstance(status, str):
        json_status = status
    else:
        json_status = status
    params["status"] = json_status


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/evals/{eval_id}/runs".format(eval_id=quote(str(eval_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageEvalRunObject | None:
    if response.status_code == 200:
        response_200 = PageEvalRunObject.from_dict(response.json())



        return response_200

    if response.status_code == 400:
        response_400 = ErrorEnvelope.from_dict(response.json())



        return response_400

    if response.status_code == 401:
        response_401 = ErrorEnvelope.from_dict(response.json())



        return response_401

    if response.status_code == 403:
        response_403 = ErrorEnvelope.from_dict(response.json())



        return response_403

    if response.status_code == 404:
        response_404 = ErrorEnvelope.from_dict(response.json())



        return response_404

    if response.status_code == 413:
        response_413 = ErrorEnvelope.from_dict(response.json())



        return response_413

    if response.status_code == 429:
        response_429 = ErrorEnvelope.from_dict(response.json())



        return response_429

    if response.status_code == 503:
        response_503 = ErrorEnvelope.from_dict(response.json())



        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageEvalRunObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    eval_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetEvalRunsOrder | Unset = 'asc',
    status: EvalRunStatus | None | Unset = UNSET,

) -> Response[ErrorEnvelope | PageEvalRunObject]:
    """ List Runs

     Lists the runs of an eval.

    Args:
        eval_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetEvalRunsOrder | Unset):  Default: 'asc'.
        status (EvalRunStatus | None | Unset): Only runs in this state

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageEvalRunObject]
     """


    kwargs = _get_kwargs(
        eval_id=eval_id,
after=after,
limit=limit,
order=order,
status=status,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    eval_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetEvalRunsOrder | Unset = 'asc',
    status: EvalRunStatus | None | Unset = UNSET,

) -> ErrorEnvelope | PageEvalRunObject | None:
    """ List Runs

     Lists the runs of an eval.

    Args:
        eval_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetEvalRunsOrder | Unset):  Default: 'asc'.
        status (EvalRunStatus | None | Unset): Only runs in this state

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageEvalRunObject
     """


    return sync_detailed(
        eval_id=eval_id,
client=client,
after=after,
limit=limit,
order=order,
status=status,

    ).parsed

async def asyncio_detailed(
    eval_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetEvalRunsOrder | Unset = 'asc',
    status: EvalRunStatus | None | Unset = UNSET,

) -> Response[ErrorEnvelope | PageEvalRunObject]:
    """ List Runs

     Lists the runs of an eval.

    Args:
        eval_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetEvalRunsOrder | Unset):  Default: 'asc'.
        status (EvalRunStatus | None | Unset): Only runs in this state

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageEvalRunObject]
     """


    kwargs = _get_kwargs(
        eval_id=eval_id,
after=after,
limit=limit,
order=order,
status=status,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    eval_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetEvalRunsOrder | Unset = 'asc',
    status: EvalRunStatus | None | Unset = UNSET,

) -> ErrorEnvelope | PageEvalRunObject | None:
    """ List Runs

     Lists the runs of an eval.

    Args:
        eval_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetEvalRunsOrder | Unset):  Default: 'asc'.
        status (EvalRunStatus | None | Unset): Only runs in this state

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageEvalRunObject
     """


    return (await asyncio_detailed(
        eval_id=eval_id,
client=client,
after=after,
limit=limit,
order=order,
status=status,

    )).parsed
