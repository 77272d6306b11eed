from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.get_chat_completion_messages_order import check_get_chat_completion_messages_order
from ...models.get_chat_completion_messages_order import GetChatCompletionMessagesOrder
from ...models.page_stored_chat_message import PageStoredChatMessage
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    completion_id: str,
    *,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetChatCompletionMessagesOrder | Unset = 'asc',

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


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/chat/completions/{completion_id}/messages".format(completion_id=quote(str(completion_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageStoredChatMessage | None:
    if response.status_code == 200:
        response_200 = PageStoredChatMessage.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageStoredChatMessage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    completion_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetChatCompletionMessagesOrder | Unset = 'asc',

) -> Response[ErrorEnvelope | PageStoredChatMessage]:
    """ List Chat Completion Messages

     Lists the messages that a stored chat completion answered.

    Args:
        completion_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetChatCompletionMessagesOrder | Unset):  Default: 'asc'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageStoredChatMessage]
     """


    kwargs = _get_kwargs(
        completion_id=completion_id,
after=after,
limit=limit,
order=order,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    completion_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetChatCompletionMessagesOrder | Unset = 'asc',

) -> ErrorEnvelope | PageStoredChatMessage | None:
    """ List Chat Completion Messages

     Lists the messages that a stored chat completion answered.

    Args:
        completion_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetChatCompletionMessagesOrder | Unset):  Default: 'asc'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageStoredChatMessage
     """


    return sync_detailed(
        completion_id=completion_id,
client=client,
after=after,
limit=limit,
order=order,

    ).parsed

async def asyncio_detailed(
    completion_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetChatCompletionMessagesOrder | Unset = 'asc',

) -> Response[ErrorEnvelope | PageStoredChatMessage]:
    """ List Chat Completion Messages

     Lists the messages that a stored chat completion answered.

    Args:
        completion_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetChatCompletionMessagesOrder | Unset):  Default: 'asc'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageStoredChatMessage]
     """


    kwargs = _get_kwargs(
        completion_id=completion_id,
after=after,
limit=limit,
order=order,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    completion_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    order: GetChatCompletionMessagesOrder | Unset = 'asc',

) -> ErrorEnvelope | PageStoredChatMessage | None:
    """ List Chat Completion Messages

     Lists the messages that a stored chat completion answered.

    Args:
        completion_id (str):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        order (GetChatCompletionMessagesOrder | Unset):  Default: 'asc'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageStoredChatMessage
     """


    return (await asyncio_detailed(
        completion_id=completion_id,
client=client,
after=after,
limit=limit,
order=order,

    )).parsed
