from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.create_feedback_build import CreateFeedbackBuild
from ...models.error_envelope import ErrorEnvelope
from ...models.feedback_build_object import FeedbackBuildObject
from typing import cast



def _get_kwargs(
    *,
    body: CreateFeedbackBuild,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/feedback/builds",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | FeedbackBuildObject | None:
    if response.status_code == 200:
        response_200 = FeedbackBuildObject.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | FeedbackBuildObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateFeedbackBuild,

) -> Response[ErrorEnvelope | FeedbackBuildObject]:
    """ Create Feedback Build

     Builds the files of a job from feedback, as a version of a curriculum. With `dry_run` it only
    says what they would contain.

    Args:
        body (CreateFeedbackBuild): The files to build from the feedback of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FeedbackBuildObject]
     """


    kwargs = _get_kwargs(
        body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient,
    body: CreateFeedbackBuild,

) -> ErrorEnvelope | FeedbackBuildObject | None:
    """ Create Feedback Build

     Builds the files of a job from feedback, as a version of a curriculum. With `dry_run` it only
    says what they would contain.

    Args:
        body (CreateFeedbackBuild): The files to build from the feedback of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FeedbackBuildObject
     """


    return sync_detailed(
        client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: CreateFeedbackBuild,

) -> Response[ErrorEnvelope | FeedbackBuildObject]:
    """ Create Feedback Build

     Builds the files of a job from feedback, as a version of a curriculum. With `dry_run` it only
    says what they would contain.

    Args:
        body (CreateFeedbackBuild): The files to build from the feedback of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | FeedbackBuildObject]
     """


    kwargs = _get_kwargs(
        body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient,
    body: CreateFeedbackBuild,

) -> ErrorEnvelope | FeedbackBuildObject | None:
    """ Create Feedback Build

     Builds the files of a job from feedback, as a version of a curriculum. With `dry_run` it only
    says what they would contain.

    Args:
        body (CreateFeedbackBuild): The files to build from the feedback of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | FeedbackBuildObject
     """


    return (await asyncio_detailed(
        client=client,
body=body,

    )).parsed
