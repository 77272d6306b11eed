from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.rollout_tokens import RolloutTokens
from typing import cast



def _get_kwargs(
    job_id: str,
    rollout_id: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/jobs/{job_id}/rollouts/{rollout_id}/tokens".format(job_id=quote(str(job_id), safe=""),rollout_id=quote(str(rollout_id), safe=""),),
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | RolloutTokens | None:
    if response.status_code == 200:
        response_200 = RolloutTokens.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | RolloutTokens]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    job_id: str,
    rollout_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[ErrorEnvelope | RolloutTokens]:
    """ Get Rollout Tokens

     Returns the tokens that the policy sampled in a rollout, with their log-probs and ratios. A
    rollout that was written before tokens were stored answers 404.

    Args:
        job_id (str):
        rollout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | RolloutTokens]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
rollout_id=rollout_id,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    job_id: str,
    rollout_id: str,
    *,
    client: AuthenticatedClient,

) -> ErrorEnvelope | RolloutTokens | None:
    """ Get Rollout Tokens

     Returns the tokens that the policy sampled in a rollout, with their log-probs and ratios. A
    rollout that was written before tokens were stored answers 404.

    Args:
        job_id (str):
        rollout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | RolloutTokens
     """


    return sync_detailed(
        job_id=job_id,
rollout_id=rollout_id,
client=client,

    ).parsed

async def asyncio_detailed(
    job_id: str,
    rollout_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[ErrorEnvelope | RolloutTokens]:
    """ Get Rollout Tokens

     Returns the tokens that the policy sampled in a rollout, with their log-probs and ratios. A
    rollout that was written before tokens were stored answers 404.

    Args:
        job_id (str):
        rollout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | RolloutTokens]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
rollout_id=rollout_id,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    job_id: str,
    rollout_id: str,
    *,
    client: AuthenticatedClient,

) -> ErrorEnvelope | RolloutTokens | None:
    """ Get Rollout Tokens

     Returns the tokens that the policy sampled in a rollout, with their log-probs and ratios. A
    rollout that was written before tokens were stored answers 404.

    Args:
        job_id (str):
        rollout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | RolloutTokens
     """


    return (await asyncio_detailed(
        job_id=job_id,
rollout_id=rollout_id,
client=client,

    )).parsed
