from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.recipe_details import RecipeDetails
from ...models.update_recipe import UpdateRecipe
from typing import cast



def _get_kwargs(
    recipe_id: str,
    *,
    body: UpdateRecipe,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/recipes/{recipe_id}".format(recipe_id=quote(str(recipe_id), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | RecipeDetails | None:
    if response.status_code == 200:
        response_200 = RecipeDetails.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | RecipeDetails]:
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
    body: UpdateRecipe,

) -> Response[ErrorEnvelope | RecipeDetails]:
    """ Update Recipe

     Makes a new version of a recipe of the project's own; jobs do not change.

    Args:
        recipe_id (str):
        body (UpdateRecipe): Changes that make a new version of a recipe; absent fields do not
            change;
            `null` removes an optional one and keeps a required one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | RecipeDetails]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateRecipe,

) -> ErrorEnvelope | RecipeDetails | None:
    """ Update Recipe

     Makes a new version of a recipe of the project's own; jobs do not change.

    Args:
        recipe_id (str):
        body (UpdateRecipe): Changes that make a new version of a recipe; absent fields do not
            change;
            `null` removes an optional one and keeps a required one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | RecipeDetails
     """


    return sync_detailed(
        recipe_id=recipe_id,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateRecipe,

) -> Response[ErrorEnvelope | RecipeDetails]:
    """ Update Recipe

     Makes a new version of a recipe of the project's own; jobs do not change.

    Args:
        recipe_id (str):
        body (UpdateRecipe): Changes that make a new version of a recipe; absent fields do not
            change;
            `null` removes an optional one and keeps a required one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | RecipeDetails]
     """


    kwargs = _get_kwargs(
        recipe_id=recipe_id,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    recipe_id: str,
    *,
    client: AuthenticatedClient,
    body: UpdateRecipe,

) -> ErrorEnvelope | RecipeDetails | None:
    """ Update Recipe

     Makes a new version of a recipe of the project's own; jobs do not change.

    Args:
        recipe_id (str):
        body (UpdateRecipe): Changes that make a new version of a recipe; absent fields do not
            change;
            `null` removes an optional one and keeps a required one.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | RecipeDetails
     """


    return (await asyncio_detailed(
        recipe_id=recipe_id,
client=client,
body=body,

    )).parsed
