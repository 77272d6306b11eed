from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    job_id: str,
    *,
    after: None | str | Unset = UNSET,
    last_event_id: None | str | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id



    

    params: dict[str, Any] = {}

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/jobs/{job_id}/stream".format(job_id=quote(str(job_id), safe=""),),
        "params": params,
    }


    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Any | ErrorEnvelope | str | None:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Any | ErrorEnvelope | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    last_event_id: None | str | Unset = UNSET,

) -> Response[Any | ErrorEnvelope | str]:
    """ Stream Job

     Streams a job: each event once, in order, with the points of its curves (`message`,
    `metrics`), and the job's state whenever it has changed (`job`). Begins with the first event, or
    after the one that `after` names. Ends with the job.

    Args:
        job_id (str):
        after (None | str | Unset): Id of the last event that the client has
        last_event_id (None | str | Unset): As `after`, which it replaces: browsers send it when
            they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope | str]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
after=after,
last_event_id=last_event_id,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    last_event_id: None | str | Unset = UNSET,

) -> Any | ErrorEnvelope | str | None:
    """ Stream Job

     Streams a job: each event once, in order, with the points of its curves (`message`,
    `metrics`), and the job's state whenever it has changed (`job`). Begins with the first event, or
    after the one that `after` names. Ends with the job.

    Args:
        job_id (str):
        after (None | str | Unset): Id of the last event that the client has
        last_event_id (None | str | Unset): As `after`, which it replaces: browsers send it when
            they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope | str
     """


    return sync_detailed(
        job_id=job_id,
client=client,
after=after,
last_event_id=last_event_id,

    ).parsed

async def asyncio_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    last_event_id: None | str | Unset = UNSET,

) -> Response[Any | ErrorEnvelope | str]:
    """ Stream Job

     Streams a job: each event once, in order, with the points of its curves (`message`,
    `metrics`), and the job's state whenever it has changed (`job`). Begins with the first event, or
    after the one that `after` names. Ends with the job.

    Args:
        job_id (str):
        after (None | str | Unset): Id of the last event that the client has
        last_event_id (None | str | Unset): As `after`, which it replaces: browsers send it when
            they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | ErrorEnvelope | str]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
after=after,
last_event_id=last_event_id,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    last_event_id: None | str | Unset = UNSET,

) -> Any | ErrorEnvelope | str | None:
    """ Stream Job

     Streams a job: each event once, in order, with the points of its curves (`message`,
    `metrics`), and the job's state whenever it has changed (`job`). Begins with the first event, or
    after the one that `after` names. Ends with the job.

    Args:
        job_id (str):
        after (None | str | Unset): Id of the last event that the client has
        last_event_id (None | str | Unset): As `after`, which it replaces: browsers send it when
            they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | ErrorEnvelope | str
     """


    return (await asyncio_detailed(
        job_id=job_id,
client=client,
after=after,
last_event_id=last_event_id,

    )).parsed
