from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.page_recipe import PageRecipe
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    recipe_id: str,
    *,
    after: int | None | Unset = UNSET,
    limit: int | Unset = 20,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_after: int | None | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    params["limit"] = limit


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/recipes/{recipe_id}/versions".format(recipe_id=quote(str(recipe_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageRecipe | None:
    if response.status_code == 200:
        response_200 = PageRecipe.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageRecipe]:
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
    after: int | None | Unset = UNSET,
    limit: int | Unset = 20,

) -> Response[ErrorEnvelope | PageRecipe]:
    """ List Recipe Versions

     Lists versions, newest first.

    Args:
        recipe_id (str):
        after (int | None | Unset): Number of the last version of the previous page
        limit (int | Unset): Objects of a page Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageRecipe]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,
after=after,
limit=limit,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    after: int | None | Unset = UNSET,
    limit: int | Unset = 20,

) -> ErrorEnvelope | PageRecipe | None:
    """ List Recipe Versions

     Lists versions, newest first.

    Args:
        recipe_id (str):
        after (int | None | Unset): Number of the last version of the previous page
        limit (int | Unset): Objects of a page Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageRecipe
     """


    return sync_detailed(
        recipe_id=recipe_id,
client=client,
after=after,
limit=limit,

    ).parsed

async def asyncio_detailed(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    after: int | None | Unset = UNSET,
    limit: int | Unset = 20,

) -> Response[ErrorEnvelope | PageRecipe]:
    """ List Recipe Versions

     Lists versions, newest first.

    Args:
        recipe_id (str):
        after (int | None | Unset): Number of the last version of the previous page
        limit (int | Unset): Objects of a page Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageRecipe]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,
after=after,
limit=limit,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    after: int | None | Unset = UNSET,
    limit: int | Unset = 20,

) -> ErrorEnvelope | PageRecipe | None:
    """ List Recipe Versions

     Lists versions, newest first.

    Args:
        recipe_id (str):
        after (int | None | Unset): Number of the last version of the previous page
        limit (int | Unset): Objects of a page Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageRecipe
     """


    return (await asyncio_detailed(
        recipe_id=recipe_id,
client=client,
after=after,
limit=limit,

    )).parsed
