from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.improve_student import ImproveStudent
from ...models.student_improvement import StudentImprovement
from typing import cast



def _get_kwargs(
    name: str,
    *,
    body: ImproveStudent,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/students/{name}/improve".format(name=quote(str(name), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | StudentImprovement | None:
    if response.status_code == 201:
        response_201 = StudentImprovement.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | StudentImprovement]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: ImproveStudent,

) -> Response[ErrorEnvelope | StudentImprovement]:
    """ Improve Student

     Compiles an improvement plan and creates its job, which trains from the model that answers
    for the student now. Its tuned model answers for nobody until it is proposed and promoted. With
    `coach` it starts a Coach session, which makes such jobs, proposes and promotes.

    Args:
        name (str):
        body (ImproveStudent): The improvement plan of a job that trains a student further, from
            the model that answers for
            it now, or of the jobs of a Coach session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | StudentImprovement]
     """


    kwargs = _get_kwargs(
        name=name,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    name: str,
    *,
    client: AuthenticatedClient,
    body: ImproveStudent,

) -> ErrorEnvelope | StudentImprovement | None:
    """ Improve Student

     Compiles an improvement plan and creates its job, which trains from the model that answers
    for the student now. Its tuned model answers for nobody until it is proposed and promoted. With
    `coach` it starts a Coach session, which makes such jobs, proposes and promotes.

    Args:
        name (str):
        body (ImproveStudent): The improvement plan of a job that trains a student further, from
            the model that answers for
            it now, or of the jobs of a Coach session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | StudentImprovement
     """


    return sync_detailed(
        name=name,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: ImproveStudent,

) -> Response[ErrorEnvelope | StudentImprovement]:
    """ Improve Student

     Compiles an improvement plan and creates its job, which trains from the model that answers
    for the student now. Its tuned model answers for nobody until it is proposed and promoted. With
    `coach` it starts a Coach session, which makes such jobs, proposes and promotes.

    Args:
        name (str):
        body (ImproveStudent): The improvement plan of a job that trains a student further, from
            the model that answers for
            it now, or of the jobs of a Coach session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | StudentImprovement]
     """


    kwargs = _get_kwargs(
        name=name,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    body: ImproveStudent,

) -> ErrorEnvelope | StudentImprovement | None:
    """ Improve Student

     Compiles an improvement plan and creates its job, which trains from the model that answers
    for the student now. Its tuned model answers for nobody until it is proposed and promoted. With
    `coach` it starts a Coach session, which makes such jobs, proposes and promotes.

    Args:
        name (str):
        body (ImproveStudent): The improvement plan of a job that trains a student further, from
            the model that answers for
            it now, or of the jobs of a Coach session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | StudentImprovement
     """


    return (await asyncio_detailed(
        name=name,
client=client,
body=body,

    )).parsed
