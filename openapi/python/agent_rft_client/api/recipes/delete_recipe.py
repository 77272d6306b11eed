from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.deleted import Deleted
from ...models.error_envelope import ErrorEnvelope
from typing import cast



def _get_kwargs(
    recipe_id: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/recipes/{recipe_id}".format(recipe_id=quote(str(recipe_id), safe=""),),
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Deleted | ErrorEnvelope | None:
    if response.status_code == 200:
        response_200 = Deleted.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Deleted | ErrorEnvelope]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    recipe_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[Deleted | ErrorEnvelope]:
    """ Delete Recipe

     Deletes a recipe of the project's own with all its versions. Jobs and Coach sessions keep
    what they were made with.

    Args:
        recipe_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Deleted | ErrorEnvelope]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    recipe_id: str,
    *,
    client: AuthenticatedClient,

) -> Deleted | ErrorEnvelope | None:
    """ Delete Recipe

     Deletes a recipe of the project's own with all its versions. Jobs and Coach sessions keep
    what they were made with.

    Args:
        recipe_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Deleted | ErrorEnvelope
     """


    return sync_detailed(
        recipe_id=recipe_id,
client=client,

    ).parsed

async def asyncio_detailed(
    recipe_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[Deleted | ErrorEnvelope]:
    """ Delete Recipe

     Deletes a recipe of the project's own with all its versions. Jobs and Coach sessions keep
    what they were made with.

    Args:
        recipe_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Deleted | ErrorEnvelope]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    recipe_id: str,
    *,
    client: AuthenticatedClient,

) -> Deleted | ErrorEnvelope | None:
    """ Delete Recipe

     Deletes a recipe of the project's own with all its versions. Jobs and Coach sessions keep
    what they were made with.

    Args:
        recipe_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Deleted | ErrorEnvelope
     """


    return (await asyncio_detailed(
        recipe_id=recipe_id,
client=client,

    )).parsed
