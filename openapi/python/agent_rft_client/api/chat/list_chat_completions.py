from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.list_chat_completions_order import check_list_chat_completions_order
from ...models.list_chat_completions_order import ListChatCompletionsOrder
from ...models.page_stored_chat_completion import PageStoredChatCompletion
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    *,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: ListChatCompletionsOrder | Unset = 'asc',
    model: None | str | Unset = UNSET,
    metadata: None | str | Unset = UNSET,

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

    json_model: None | str | Unset
    if isinstance(model, Unset):
        json_model = UNSET
    else:
        json_model = model
    params["model"] = json_model

    json_metadata: None | str | Unset
    if isinstance(metadata, Unset):
        json_metadata = UNSET
    else:
        json_metadata = metadata
    params["metadata"] = json_metadata


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/chat/completions",
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageStoredChatCompletion | None:
    if response.status_code == 200:
        response_200 = PageStoredChatCompletion.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageStoredChatCompletion]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: ListChatCompletionsOrder | Unset = 'asc',
    model: None | str | Unset = UNSET,
    metadata: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | PageStoredChatCompletion]:
    """ List Chat Completions

     Lists the chat completions that were stored; `metadata[key]=value` selects those with that
    pair.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (ListChatCompletionsOrder | Unset):  Default: 'asc'.
        model (None | str | Unset): Only completions of this model
        metadata (None | str | Unset): Pairs are sent as `metadata[key]=value`

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageStoredChatCompletion]
     """


    kwargs = _get_kwargs(
        after=after,
limit=limit,
order=order,
model=model,
metadata=metadata,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: ListChatCompletionsOrder | Unset = 'asc',
    model: None | str | Unset = UNSET,
    metadata: None | str | Unset = UNSET,

) -> ErrorEnvelope | PageStoredChatCompletion | None:
    """ List Chat Completions

     Lists the chat completions that were stored; `metadata[key]=value` selects those with that
    pair.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (ListChatCompletionsOrder | Unset):  Default: 'asc'.
        model (None | str | Unset): Only completions of this model
        metadata (None | str | Unset): Pairs are sent as `metadata[key]=value`

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageStoredChatCompletion
     """


    return sync_detailed(
        client=client,
after=after,
limit=limit,
order=order,
model=model,
metadata=metadata,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: ListChatCompletionsOrder | Unset = 'asc',
    model: None | str | Unset = UNSET,
    metadata: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | PageStoredChatCompletion]:
    """ List Chat Completions

     Lists the chat completions that were stored; `metadata[key]=value` selects those with that
    pair.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (ListChatCompletionsOrder | Unset):  Default: 'asc'.
        model (None | str | Unset): Only completions of this model
        metadata (None | str | Unset): Pairs are sent as `metadata[key]=value`

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageStoredChatCompletion]
     """


    kwargs = _get_kwargs(
        after=after,
limit=limit,
order=order,
model=model,
metadata=metadata,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: ListChatCompletionsOrder | Unset = 'asc',
    model: None | str | Unset = UNSET,
    metadata: None | str | Unset = UNSET,

) -> ErrorEnvelope | PageStoredChatCompletion | None:
    """ List Chat Completions

     Lists the chat completions that were stored; `metadata[key]=value` selects those with that
    pair.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (ListChatCompletionsOrder | Unset):  Default: 'asc'.
        model (None | str | Unset): Only completions of this model
        metadata (None | str | Unset): Pairs are sent as `metadata[key]=value`

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageStoredChatCompletion
     """


    return (await asyncio_detailed(
        client=client,
after=after,
limit=limit,
order=order,
model=model,
metadata=metadata,

    )).parsed
