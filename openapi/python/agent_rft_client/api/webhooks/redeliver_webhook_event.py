from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.webhook_delivery_object import WebhookDeliveryObject
from typing import cast



def _get_kwargs(
    webhook_endpoint_id: str,
    delivery_id: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/webhook_endpoints/{webhook_endpoint_id}/deliveries/{delivery_id}/redeliver".format(webhook_endpoint_id=quote(str(webhook_endpoint_id), safe=""),delivery_id=quote(str(delivery_id), safe=""),),
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | WebhookDeliveryObject | None:
    if response.status_code == 200:
        response_200 = WebhookDeliveryObject.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | WebhookDeliveryObject]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    webhook_endpoint_id: str,
    delivery_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[ErrorEnvelope | WebhookDeliveryObject]:
    """ Redeliver

     Sends the event of an ended delivery again, with its id and all retries (an extension).

    Args:
        webhook_endpoint_id (str):
        delivery_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | WebhookDeliveryObject]
     """


    kwargs = _get_kwargs(
        webhook_endpoint_id=webhook_endpoint_id,
delivery_id=delivery_id,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    webhook_endpoint_id: str,
    delivery_id: str,
    *,
    client: AuthenticatedClient,

) -> ErrorEnvelope | WebhookDeliveryObject | None:
    """ Redeliver

     Sends the event of an ended delivery again, with its id and all retries (an extension).

    Args:
        webhook_endpoint_id (str):
        delivery_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | WebhookDeliveryObject
     """


    return sync_detailed(
        webhook_endpoint_id=webhook_endpoint_id,
delivery_id=delivery_id,
client=client,

    ).parsed

async def asyncio_detailed(
    webhook_endpoint_id: str,
    delivery_id: str,
    *,
    client: AuthenticatedClient,

) -> Response[ErrorEnvelope | WebhookDeliveryObject]:
    """ Redeliver

     Sends the event of an ended delivery again, with its id and all retries (an extension).

    Args:
        webhook_endpoint_id (str):
        delivery_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | WebhookDeliveryObject]
     """


    kwargs = _get_kwargs(
        webhook_endpoint_id=webhook_endpoint_id,
delivery_id=delivery_id,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    webhook_endpoint_id: str,
    delivery_id: str,
    *,
    client: AuthenticatedClient,

) -> ErrorEnvelope | WebhookDeliveryObject | None:
    """ Redeliver

     Sends the event of an ended delivery again, with its id and all retries (an extension).

    Args:
        webhook_endpoint_id (str):
        delivery_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | WebhookDeliveryObject
     """


    return (await asyncio_detailed(
        webhook_endpoint_id=webhook_endpoint_id,
delivery_id=delivery_id,
client=client,

    )).parsed
