from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.list_fine_tuning_checkpoint_permissions_order import check_list_fine_tuning_checkpoint_permissions_order
from ...models.list_fine_tuning_checkpoint_permissions_order import ListFineTuningCheckpointPermissionsOrder
from ...models.page_permission_object import PagePermissionObject
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    fine_tuned_model_checkpoint: str,
    *,
    project_id: None | str | Unset = UNSET,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 10,
    order: ListFineTuningCheckpointPermissionsOrder | Unset = 'descending',

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_project_id: None | str | Unset
    if isinstance(project_id, Unset):
        json_project_id = UNSET
    else:
        json_project_id = project_id
    params["project_id"] = json_project_id

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    params["limit"] = limit

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/checkpoints/{fine_tuned_model_checkpoint}/permissions".format(fine_tuned_model_checkpoint=quote(str(fine_tuned_model_checkpoint), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PagePermissionObject | None:
    if response.status_code == 200:
        response_200 = PagePermissionObject.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PagePermissionObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    fine_tuned_model_checkpoint: str,
    *,
    client: AuthenticatedClient,
    project_id: None | str | Unset = UNSET,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 10,
    order: ListFineTuningCheckpointPermissionsOrder | Unset = 'descending',

) -> Response[ErrorEnvelope | PagePermissionObject]:
    """ List Permissions

     Lists the projects that may use a checkpoint's model.

    Args:
        fine_tuned_model_checkpoint (str):
        project_id (None | str | Unset):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 10.
        order (ListFineTuningCheckpointPermissionsOrder | Unset):  Default: 'descending'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PagePermissionObject]
     """


    kwargs = _get_kwargs(
        fine_tuned_model_checkpoint=fine_tuned_model_checkpoint,
project_id=project_id,
after=after,
limit=limit,
order=order,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    fine_tuned_model_checkpoint: str,
    *,
    client: AuthenticatedClient,
    project_id: None | str | Unset = UNSET,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 10,
    order: ListFineTuningCheckpointPermissionsOrder | Unset = 'descending',

) -> ErrorEnvelope | PagePermissionObject | None:
    """ List Permissions

     Lists the projects that may use a checkpoint's model.

    Args:
        fine_tuned_model_checkpoint (str):
        project_id (None | str | Unset):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 10.
        order (ListFineTuningCheckpointPermissionsOrder | Unset):  Default: 'descending'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PagePermissionObject
     """


    return sync_detailed(
        fine_tuned_model_checkpoint=fine_tuned_model_checkpoint,
client=client,
project_id=project_id,
after=after,
limit=limit,
order=order,

    ).parsed

async def asyncio_detailed(
    fine_tuned_model_checkpoint: str,
    *,
    client: AuthenticatedClient,
    project_id: None | str | Unset = UNSET,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 10,
    order: ListFineTuningCheckpointPermissionsOrder | Unset = 'descending',

) -> Response[ErrorEnvelope | PagePermissionObject]:
    """ List Permissions

     Lists the projects that may use a checkpoint's model.

    Args:
        fine_tuned_model_checkpoint (str):
        project_id (None | str | Unset):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 10.
        order (ListFineTuningCheckpointPermissionsOrder | Unset):  Default: 'descending'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PagePermissionObject]
     """


    kwargs = _get_kwargs(
        fine_tuned_model_checkpoint=fine_tuned_model_checkpoint,
project_id=project_id,
after=after,
limit=limit,
order=order,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    fine_tuned_model_checkpoint: str,
    *,
    client: AuthenticatedClient,
    project_id: None | str | Unset = UNSET,
    after: None | str | Unset = UNSET,
    limit: int | Unset = 10,
    order: ListFineTuningCheckpointPermissionsOrder | Unset = 'descending',

) -> ErrorEnvelope | PagePermissionObject | None:
    """ List Permissions

     Lists the projects that may use a checkpoint's model.

    Args:
        fine_tuned_model_checkpoint (str):
        project_id (None | str | Unset):
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset): Objects of a page Default: 10.
        order (ListFineTuningCheckpointPermissionsOrder | Unset):  Default: 'descending'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PagePermissionObject
     """


    return (await asyncio_detailed(
        fine_tuned_model_checkpoint=fine_tuned_model_checkpoint,
client=client,
project_id=project_id,
after=after,
limit=limit,
order=order,

    )).parsed
