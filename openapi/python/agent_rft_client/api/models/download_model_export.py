from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...types import File, FileTypes
from ...types import UNSET, Unset
from io import BytesIO
from typing import cast



def _get_kwargs(
    model: str,
    export_id: str,
    *,
    range_: None | str | Unset = UNSET,
    if_range: None | str | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(range_, Unset):
        headers["Range"] = range_

    if not isinstance(if_range, Unset):
        headers["If-Range"] = if_range



    

    

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/models/{model}/exports/{export_id}/content".format(model=quote(str(model), safe=""),export_id=quote(str(export_id), safe=""),),
    }


    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | File | None:
    if response.status_code == 200:
        response_200 = File(
             payload = BytesIO(response.content)
        )



        return response_200

    if response.status_code == 206:
        response_206 = File(
             payload = BytesIO(response.content)
        )



        return response_206

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

    if response.status_code == 416:
        response_416 = ErrorEnvelope.from_dict(response.json())



        return response_416

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | File]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    model: str,
    export_id: str,
    *,
    client: AuthenticatedClient,
    range_: None | str | Unset = UNSET,
    if_range: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | File]:
    """ Download Export

     Downloads a completed export. The archive is the same at each download, so `Range` with
    `If-Range` continues one.

    Args:
        model (str):
        export_id (str):
        range_ (None | str | Unset): One range of bytes, such as `bytes=1048576-`; others are
            ignored.
        if_range (None | str | Unset): The `ETag` of an earlier answer; with another one `Range`
            is ignored.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | File]
     """


    kwargs = _get_kwargs(
        model=model,
export_id=export_id,
range_=range_,
if_range=if_range,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    model: str,
    export_id: str,
    *,
    client: AuthenticatedClient,
    range_: None | str | Unset = UNSET,
    if_range: None | str | Unset = UNSET,

) -> ErrorEnvelope | File | None:
    """ Download Export

     Downloads a completed export. The archive is the same at each download, so `Range` with
    `If-Range` continues one.

    Args:
        model (str):
        export_id (str):
        range_ (None | str | Unset): One range of bytes, such as `bytes=1048576-`; others are
            ignored.
        if_range (None | str | Unset): The `ETag` of an earlier answer; with another one `Range`
            is ignored.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | File
     """


    return sync_detailed(
        model=model,
export_id=export_id,
client=client,
range_=range_,
if_range=if_range,

    ).parsed

async def asyncio_detailed(
    model: str,
    export_id: str,
    *,
    client: AuthenticatedClient,
    range_: None | str | Unset = UNSET,
    if_range: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | File]:
    """ Download Export

     Downloads a completed export. The archive is the same at each download, so `Range` with
    `If-Range` continues one.

    Args:
        model (str):
        export_id (str):
        range_ (None | str | Unset): One range of bytes, such as `bytes=1048576-`; others are
            ignored.
        if_range (None | str | Unset): The `ETag` of an earlier answer; with another one `Range`
            is ignored.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | File]
     """


    kwargs = _get_kwargs(
        model=model,
export_id=export_id,
range_=range_,
if_range=if_range,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    model: str,
    export_id: str,
    *,
    client: AuthenticatedClient,
    range_: None | str | Unset = UNSET,
    if_range: None | str | Unset = UNSET,

) -> ErrorEnvelope | File | None:
    """ Download Export

     Downloads a completed export. The archive is the same at each download, so `Range` with
    `If-Range` continues one.

    Args:
        model (str):
        export_id (str):
        range_ (None | str | Unset): One range of bytes, such as `bytes=1048576-`; others are
            ignored.
        if_range (None | str | Unset): The `ETag` of an earlier answer; with another one `Range`
            is ignored.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | File
     """


    return (await asyncio_detailed(
        model=model,
export_id=export_id,
client=client,
range_=range_,
if_range=if_range,

    )).parsed
