from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.feedback_findings import FeedbackFindings
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    *,
    created_after: int | None | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_created_after: int | None | Unset
    if isinstance(created_after, Unset):
        json_created_after = UNSET
    else:
        json_created_after = created_after
    params["created_after"] = json_created_after


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/feedback/findings",
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | FeedbackFindings | None:
    if response.status_code == 200:
        response_200 = FeedbackFindings.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | FeedbackFindings]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    created_after: int | None | Unset = UNSET,

) -> Response[ErrorEnvelope | FeedbackFindings]:
    """ List Feedback Findings

     Finds feedback that repeats or contradicts other feedback. A build drops it, or the majority
    of thumbs decides.

    Args:
        created_after (int | None | Unset): Unix seconds: only later feedback

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FeedbackFindings]
     """


    kwargs = _get_kwargs(
        created_after=created_after,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient,
    created_after: int | None | Unset = UNSET,

) -> ErrorEnvelope | FeedbackFindings | None:
    """ List Feedback Findings

     Finds feedback that repeats or contradicts other feedback. A build drops it, or the majority
    of thumbs decides.

    Args:
        created_after (int | None | Unset): Unix seconds: only later feedback

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FeedbackFindings
     """


    return sync_detailed(
        client=client,
created_after=created_after,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    created_after: int | None | Unset = UNSET,

) -> Response[ErrorEnvelope | FeedbackFindings]:
    """ List Feedback Findings

     Finds feedback that repeats or contradicts other feedback. A build drops it, or the majority
    of thumbs decides.

    Args:
        created_after (int | None | Unset): Unix seconds: only later feedback

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FeedbackFindings]
     """


    kwargs = _get_kwargs(
        created_after=created_after,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient,
    created_after: int | None | Unset = UNSET,

) -> ErrorEnvelope | FeedbackFindings | None:
    """ List Feedback Findings

     Finds feedback that repeats or contradicts other feedback. A build drops it, or the majority
    of thumbs decides.

    Args:
        created_after (int | None | Unset): Unix seconds: only later feedback

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FeedbackFindings
     """


    return (await asyncio_detailed(
        client=client,
created_after=created_after,

    )).parsed
