from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.list_audit_logs_event_types_type_0_item import check_list_audit_logs_event_types_type_0_item
from ...models.list_audit_logs_event_types_type_0_item import ListAuditLogsEventTypesType0Item
from ...models.page_audit_log_entry import PageAuditLogEntry
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    *,
    after: None | str | Unset = UNSET,
    before: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    effective_atgt: int | None | Unset = UNSET,
    effective_atgte: int | None | Unset = UNSET,
    effective_atlt: int | None | Unset = UNSET,
    effective_atlte: int | None | Unset = UNSET,
    event_types: list[ListAuditLogsEventTypesType0Item] | None | Unset = UNSET,
    actor_ids: list[str] | None | Unset = UNSET,
    project_ids: list[str] | None | Unset = UNSET,
    resource_ids: list[str] | None | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    json_before: None | str | Unset
    if isinstance(before, Unset):
        json_before = UNSET
    else:
        json_before = before
    params["before"] = json_before

    params["limit"] = limit

    json_effective_atgt: int | None | Unset
    if isinstance(effective_atgt, Unset):
        json_effective_atgt = UNSET
    else:
        json_effective_atgt = effective_atgt
    params["effective_at[gt]"] = json_effective_atgt

    json_effective_atgte: int | None | Unset
    if isinstance(effective_atgte, Unset):
        json_effective_atgte = UNSET
    else:
        json_effective_atgte = effective_atgte
    params["effective_at[gte]"] = json_effective_atgte

    json_effective_atlt: int | None | Unset
    if isinstance(effective_atlt, Unset):
        json_effective_atlt = UNSET
    else:
        json_effective_atlt = effective_atlt
    params["effective_at[lt]"] = json_effective_atlt

    json_effective_atlte: int | None | Unset
    if isinstance(effective_atlte, Unset):
        json_effective_atlte = UNSET
    else:
        json_effective_atlte = effective_atlte
    params["effective_at[lte]"] = json_effective_atlte

    json_event_types: list[str] | None | Unset
    if isinstance(event_types, Unset):
        json_event_types = UNSET
    elif isinstance(event_types, list):
        json_event_types = []
        for event_types_type_0_item_data in event_types:
            event_types_type_0_item: str = event_types_type_0_item_data
            json_event_types.append(event_types_type_0_item)


    else:
        json_event_types = event_types
    params["event_types[]"] = json_event_types

    json_actor_ids: list[str] | None | Unset
    if isinstance(actor_ids, Unset):
        json_actor_ids = UNSET
    elif isinstance(actor_ids, list):
        json_actor_ids = actor_ids


    else:
        json_actor_ids = actor_ids
    params["actor_ids[]"] = json_actor_ids

    json_project_ids: list[str] | None | Unset
    if isinstance(project_ids, Unset):
        json_project_ids = UNSET
    elif isinstance(project_ids, list):
        json_project_ids = project_ids


    else:
        json_project_ids = project_ids
    params["project_ids[]"] = json_project_ids

    json_resource_ids: list[str] | None | Unset
    if isinstance(resource_ids, Unset):
        json_resource_ids = UNSET
    elif isinstance(resource_ids, list):
        json_resource_ids = resource_ids


    else:
        json_resource_ids = resource_ids
    params["resource_ids[]"] = json_resource_ids


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/organization/audit_logs",
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageAuditLogEntry | None:
    if response.status_code == 200:
        response_200 = PageAuditLogEntry.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageAuditLogEntry]:
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
    before: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    effective_atgt: int | None | Unset = UNSET,
    effective_atgte: int | None | Unset = UNSET,
    effective_atlt: int | None | Unset = UNSET,
    effective_atlte: int | None | Unset = UNSET,
    event_types: list[ListAuditLogsEventTypesType0Item] | None | Unset = UNSET,
    actor_ids: list[str] | None | Unset = UNSET,
    project_ids: list[str] | None | Unset = UNSET,
    resource_ids: list[str] | None | Unset = UNSET,

) -> Response[ErrorEnvelope | PageAuditLogEntry]:
    """ List Audit Logs

     Lists changes of keys, projects, jobs, files and all other objects, newest first.

    An entry exists exactly if its change was committed.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        before (None | str | Unset): Id of the first object of the following page
        limit (int | Unset): Objects of a page Default: 20.
        effective_atgt (int | None | Unset): Entries after this time (Unix seconds)
        effective_atgte (int | None | Unset): Entries at this time or after it (Unix seconds)
        effective_atlt (int | None | Unset): Entries before this time (Unix seconds)
        effective_atlte (int | None | Unset): Entries at this time or before it (Unix seconds)
        event_types (list[ListAuditLogsEventTypesType0Item] | None | Unset): Kinds of changes
        actor_ids (list[str] | None | Unset): Ids of API keys or of service accounts
        project_ids (list[str] | None | Unset): Ids of projects
        resource_ids (list[str] | None | Unset): Ids of what was changed

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageAuditLogEntry]
     """


    kwargs = _get_kwargs(
        after=after,
before=before,
limit=limit,
effective_atgt=effective_atgt,
effective_atgte=effective_atgte,
effective_atlt=effective_atlt,
effective_atlte=effective_atlte,
event_types=event_types,
actor_ids=actor_ids,
project_ids=project_ids,
resource_ids=resource_ids,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    before: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    effective_atgt: int | None | Unset = UNSET,
    effective_atgte: int | None | Unset = UNSET,
    effective_atlt: int | None | Unset = UNSET,
    effective_atlte: int | None | Unset = UNSET,
    event_types: list[ListAuditLogsEventTypesType0Item] | None | Unset = UNSET,
    actor_ids: list[str] | None | Unset = UNSET,
    project_ids: list[str] | None | Unset = UNSET,
    resource_ids: list[str] | None | Unset = UNSET,

) -> ErrorEnvelope | PageAuditLogEntry | None:
    """ List Audit Logs

     Lists changes of keys, projects, jobs, files and all other objects, newest first.

    An entry exists exactly if its change was committed.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        before (None | str | Unset): Id of the first object of the following page
        limit (int | Unset): Objects of a page Default: 20.
        effective_atgt (int | None | Unset): Entries after this time (Unix seconds)
        effective_atgte (int | None | Unset): Entries at this time or after it (Unix seconds)
        effective_atlt (int | None | Unset): Entries before this time (Unix seconds)
        effective_atlte (int | None | Unset): Entries at this time or before it (Unix seconds)
        event_types (list[ListAuditLogsEventTypesType0Item] | None | Unset): Kinds of changes
        actor_ids (list[str] | None | Unset): Ids of API keys or of service accounts
        project_ids (list[str] | None | Unset): Ids of projects
        resource_ids (list[str] | None | Unset): Ids of what was changed

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageAuditLogEntry
     """


    return sync_detailed(
        client=client,
after=after,
before=before,
limit=limit,
effective_atgt=effective_atgt,
effective_atgte=effective_atgte,
effective_atlt=effective_atlt,
effective_atlte=effective_atlte,
event_types=event_types,
actor_ids=actor_ids,
project_ids=project_ids,
resource_ids=resource_ids,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    before: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    effective_atgt: int | None | Unset = UNSET,
    effective_atgte: int | None | Unset = UNSET,
    effective_atlt: int | None | Unset = UNSET,
    effective_atlte: int | None | Unset = UNSET,
    event_types: list[ListAuditLogsEventTypesType0Item] | None | Unset = UNSET,
    actor_ids: list[str] | None | Unset = UNSET,
    project_ids: list[str] | None | Unset = UNSET,
    resource_ids: list[str] | None | Unset = UNSET,

) -> Response[ErrorEnvelope | PageAuditLogEntry]:
    """ List Audit Logs

     Lists changes of keys, projects, jobs, files and all other objects, newest first.

    An entry exists exactly if its change was committed.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        before (None | str | Unset): Id of the first object of the following page
        limit (int | Unset): Objects of a page Default: 20.
        effective_atgt (int | None | Unset): Entries after this time (Unix seconds)
        effective_atgte (int | None | Unset): Entries at this time or after it (Unix seconds)
        effective_atlt (int | None | Unset): Entries before this time (Unix seconds)
        effective_atlte (int | None | Unset): Entries at this time or before it (Unix seconds)
        event_types (list[ListAuditLogsEventTypesType0Item] | None | Unset): Kinds of changes
        actor_ids (list[str] | None | Unset): Ids of API keys or of service accounts
        project_ids (list[str] | None | Unset): Ids of projects
        resource_ids (list[str] | None | Unset): Ids of what was changed

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageAuditLogEntry]
     """


    kwargs = _get_kwargs(
        after=after,
before=before,
limit=limit,
effective_atgt=effective_atgt,
effective_atgte=effective_atgte,
effective_atlt=effective_atlt,
effective_atlte=effective_atlte,
event_types=event_types,
actor_ids=actor_ids,
project_ids=project_ids,
resource_ids=resource_ids,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient,
    after: None | str | Unset = UNSET,
    before: None | str | Unset = UNSET,
    limit: int | Unset = 20,
    effective_atgt: int | None | Unset = UNSET,
    effective_atgte: int | None | Unset = UNSET,
    effective_atlt: int | None | Unset = UNSET,
    effective_atlte: int | None | Unset = UNSET,
    event_types: list[ListAuditLogsEventTypesType0Item] | None | Unset = UNSET,
    actor_ids: list[str] | None | Unset = UNSET,
    project_ids: list[str] | None | Unset = UNSET,
    resource_ids: list[str] | None | Unset = UNSET,

) -> ErrorEnvelope | PageAuditLogEntry | None:
    """ List Audit Logs

     Lists changes of keys, projects, jobs, files and all other objects, newest first.

    An entry exists exactly if its change was committed.

    Args:
        after (None | str | Unset): Id of the last object of the previous page
        before (None | str | Unset): Id of the first object of the following page
        limit (int | Unset): Objects of a page Default: 20.
        effective_atgt (int | None | Unset): Entries after this time (Unix seconds)
        effective_atgte (int | None | Unset): Entries at this time or after it (Unix seconds)
        effective_atlt (int | None | Unset): Entries before this time (Unix seconds)
        effective_atlte (int | None | Unset): Entries at this time or before it (Unix seconds)
        event_types (list[ListAuditLogsEventTypesType0Item] | None | Unset): Kinds of changes
        actor_ids (list[str] | None | Unset): Ids of API keys or of service accounts
        project_ids (list[str] | None | Unset): Ids of projects
        resource_ids (list[str] | None | Unset): Ids of what was changed

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageAuditLogEntry
     """


    return (await asyncio_detailed(
        client=client,
after=after,
before=before,
limit=limit,
effective_atgt=effective_atgt,
effective_atgte=effective_atgte,
effective_atlt=effective_atlt,
effective_atlte=effective_atlte,
event_types=event_types,
actor_ids=actor_ids,
project_ids=project_ids,
resource_ids=resource_ids,

    )).parsed
