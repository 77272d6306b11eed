from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.list_feedback_type_type_0 import check_list_feedback_type_type_0
from ...models.list_feedback_type_type_0 import ListFeedbackTypeType0
from ...models.page_feedback_object import PageFeedbackObject
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    *,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    type_: ListFeedbackTypeType0 | None | Unset = UNSET,
    author: None | str | Unset = UNSET,
    end_user: None | str | Unset = UNSET,
    completion_id: None | str | Unset = UNSET,
    rollout_id: None | str | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    params["limit"] = limit

    json_type_: None | str | Unset
    if isinstance(type_, Unset):
        json_type_ = UNSET
    elif isinstance(type_, str):
        json_type_ = type_
    else:
        json_type_ = type_
    params["type"] = json_type_

    json_author: None | str | Unset
    if isinstance(author, Unset):
        json_author = UNSET
    else:
        json_author = author
    params["author"] = json_author

    json_end_user: None | str | Unset
    if isinstance(end_user, Unset):
        json_end_user = UNSET
    else:
        json_end_user = end_user
    params["end_user"] = json_end_user

    json_completion_id: None | str | Unset
    if isinstance(completion_id, Unset):
        json_completion_id = UNSET
    else:
        json_completion_id = completion_id
    params["completion_id"] = json_completion_id

    json_rollout_id: None | str | Unset
    if isinstance(rollout_id, Unset):
        json_rollout_id = UNSET
    else:
        json_rollout_id = rollout_id
    params["rollout_id"] = json_rollout_id


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/feedback",
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageFeedbackObject | None:
    if response.status_code == 200:
        response_200 = PageFeedbackObject.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageFeedbackObject]:
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
    type_: ListFeedbackTypeType0 | None | Unset = UNSET,
    author: None | str | Unset = UNSET,
    end_user: None | str | Unset = UNSET,
    completion_id: None | str | Unset = UNSET,
    rollout_id: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | PageFeedbackObject]:
    """ List Feedback

     Lists feedback, newest first.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        type_ (ListFeedbackTypeType0 | None | Unset): Only feedback of this type
        author (None | str | Unset):
        end_user (None | str | Unset):
        completion_id (None | str | Unset):
        rollout_id (None | str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageFeedbackObject]
     """


    kwargs = _get_kwargs(
        after=after,
limit=limit,
type_=type_,
author=author,
end_user=end_user,
completion_id=completion_id,
rollout_id=rollout_id,

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
    type_: ListFeedbackTypeType0 | None | Unset = UNSET,
    author: None | str | Unset = UNSET,
    end_user: None | str | Unset = UNSET,
    completion_id: None | str | Unset = UNSET,
    rollout_id: None | str | Unset = UNSET,

) -> ErrorEnvelope | PageFeedbackObject | None:
    """ List Feedback

     Lists feedback, newest first.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        type_ (ListFeedbackTypeType0 | None | Unset): Only feedback of this type
        author (None | str | Unset):
        end_user (None | str | Unset):
        completion_id (None | str | Unset):
        rollout_id (None | str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageFeedbackObject
     """


    return sync_detailed(
        client=client,
after=after,
limit=limit,
type_=type_,
author=author,
end_user=end_user,
completion_id=completion_id,
rollout_id=rollout_id,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    type_: ListFeedbackTypeType0 | None | Unset = UNSET,
    author: None | str | Unset = UNSET,
    end_user: None | str | Unset = UNSET,
    completion_id: None | str | Unset = UNSET,
    rollout_id: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | PageFeedbackObject]:
    """ List Feedback

     Lists feedback, newest first.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        type_ (ListFeedbackTypeType0 | None | Unset): Only feedback of this type
        author (None | str | Unset):
        end_user (None | str | Unset):
        completion_id (None | str | Unset):
        rollout_id (None | str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageFeedbackObject]
     """


    kwargs = _get_kwargs(
        after=after,
limit=limit,
type_=type_,
author=author,
end_user=end_user,
completion_id=completion_id,
rollout_id=rollout_id,

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
    type_: ListFeedbackTypeType0 | None | Unset = UNSET,
    author: None | str | Unset = UNSET,
    end_user: None | str | Unset = UNSET,
    completion_id: None | str | Unset = UNSET,
    rollout_id: None | str | Unset = UNSET,

) -> ErrorEnvelope | PageFeedbackObject | None:
    """ List Feedback

     Lists feedback, newest first.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 20.
        type_ (ListFeedbackTypeType0 | None | Unset): Only feedback of this type
        author (None | str | Unset):
        end_user (None | str | Unset):
        completion_id (None | str | Unset):
        rollout_id (None | str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageFeedbackObject
     """


    return (await asyncio_detailed(
        client=client,
after=after,
limit=limit,
type_=type_,
author=author,
end_user=end_user,
completion_id=completion_id,
rollout_id=rollout_id,

    )).parsed
