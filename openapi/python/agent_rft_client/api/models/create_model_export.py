from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.create_model_export import CreateModelExport
from ...models.error_envelope import ErrorEnvelope
from ...models.model_export_object import ModelExportObject
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    model: str,
    *,
    body: CreateModelExport | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/models/{model}/exports".format(model=quote(str(model), safe=""),),
    }

    
    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | ModelExportObject | None:
    if response.status_code == 201:
        response_201 = ModelExportObject.from_dict(response.json())



        return response_201

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

    if response.status_code == 408:
        response_408 = ErrorEnvelope.from_dict(response.json())



        return response_408

    if response.status_code == 409:
        response_409 = ErrorEnvelope.from_dict(response.json())



        return response_409

    if response.status_code == 413:
        response_413 = ErrorEnvelope.from_dict(response.json())



        return response_413

    if response.status_code == 422:
        response_422 = ErrorEnvelope.from_dict(response.json())



        return response_422

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | ModelExportObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    model: str,
    *,
    client: AuthenticatedClient,
    body: CreateModelExport | Unset = UNSET,

) -> Response[ErrorEnvelope | ModelExportObject]:
    """ Create Export

     Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.

    Args:
        model (str):
        body (CreateModelExport | Unset): The form of an export.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ModelExportObject]
     """


    kwargs = _get_kwargs(
        model=model,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    model: str,
    *,
    client: AuthenticatedClient,
    body: CreateModelExport | Unset = UNSET,

) -> ErrorEnvelope | ModelExportObject | None:
    """ Create Export

     Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.

    Args:
        model (str):
        body (CreateModelExport | Unset): The form of an export.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ModelExportObject
     """


    return sync_detailed(
        model=model,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    model: str,
    *,
    client: AuthenticatedClient,
    body: CreateModelExport | Unset = UNSET,

) -> Response[ErrorEnvelope | ModelExportObject]:
    """ Create Export

     Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.

    Args:
        model (str):
        body (CreateModelExport | Unset): The form of an export.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ModelExportObject]
     """


    kwargs = _get_kwargs(
        model=model,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    model: str,
    *,
    client: AuthenticatedClient,
    body: CreateModelExport | Unset = UNSET,

) -> ErrorEnvelope | ModelExportObject | None:
    """ Create Export

     Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.

    Args:
        model (str):
        body (CreateModelExport | Unset): The form of an export.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ModelExportObject
     """


    return (await asyncio_detailed(
        model=model,
client=client,
body=body,

    )).parsed
