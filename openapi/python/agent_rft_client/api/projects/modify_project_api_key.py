from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.project_key_object import ProjectKeyObject
from ...models.update_project_key import UpdateProjectKey
from typing import cast



def _get_kwargs(
    project_id: str,
    api_key_id: str,
    *,
    body: UpdateProjectKey,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/organization/projects/{project_id}/api_keys/{api_key_id}".format(project_id=quote(str(project_id), safe=""),api_key_id=quote(str(api_key_id), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | ProjectKeyObject | None:
    if response.status_code == 200:
        response_200 = ProjectKeyObject.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | ProjectKeyObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    project_id: str,
    api_key_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateProjectKey,

) -> Response[ErrorEnvelope | ProjectKeyObject]:
    """ Update Key

     Sets the time at which a key expires.

    Args:
        project_id (str):
        api_key_id (str):
        body (UpdateProjectKey): Changes of a key; absent fields do not change.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ProjectKeyObject]
     """


    kwargs = _get_kwargs(
        project_id=project_id,
api_key_id=api_key_id,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    project_id: str,
    api_key_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateProjectKey,

) -> ErrorEnvelope | ProjectKeyObject | None:
    """ Update Key

     Sets the time at which a key expires.

    Args:
        project_id (str):
        api_key_id (str):
        body (UpdateProjectKey): Changes of a key; absent fields do not change.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ProjectKeyObject
     """


    return sync_detailed(
        project_id=project_id,
api_key_id=api_key_id,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    project_id: str,
    api_key_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateProjectKey,

) -> Response[ErrorEnvelope | ProjectKeyObject]:
    """ Update Key

     Sets the time at which a key expires.

    Args:
        project_id (str):
        api_key_id (str):
        body (UpdateProjectKey): Changes of a key; absent fields do not change.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | ProjectKeyObject]
     """


    kwargs = _get_kwargs(
        project_id=project_id,
api_key_id=api_key_id,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    project_id: str,
    api_key_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateProjectKey,

) -> ErrorEnvelope | ProjectKeyObject | None:
    """ Update Key

     Sets the time at which a key expires.

    Args:
        project_id (str):
        api_key_id (str):
        body (UpdateProjectKey): Changes of a key; absent fields do not change.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | ProjectKeyObject
     """


    return (await asyncio_detailed(
        project_id=project_id,
api_key_id=api_key_id,
client=client,
body=body,

    )).parsed
