"""Routes of webhook endpoints: the list, one of them with its deliveries, and its buttons."""

from typing import Final

from fastapi import APIRouter, Request, Response

from app.http.requests import text_of, unless_client_hangs_up
from app.kit.errors import InvalidRequest
from app.pages.rendering import redirect
from app.pages.visitors import After, OwnForm, PageRoute, SignedIn, Visitor
from app.webhooks.events import EVENT_TYPES

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/webhooks")
_LONGEST_NAME: Final = 256
_LONGEST_URL: Final = 2048


@router.get("")
async def endpoints_page(visitor: SignedIn) -> Response:
    endpoints, _ = await visitor.services.webhook_endpoints().page(after=None, limit=20)
    return await visitor.page(
        "webhooks/endpoints.html",
        endpoints=endpoints,
        event_types=EVENT_TYPES,
        longest_name=_LONGEST_NAME,
        longest_url=_LONGEST_URL,
    )


@router.post("")
async def create(visitor: SignedIn, form: OwnForm) -> Response:
    name = text_of(form, "name", longest=_LONGEST_NAME).strip()
    if not name:
        raise InvalidRequest("The endpoint needs a name.", param="name")
    chosen = [one for one in EVENT_TYPES if form.get(f"event {one}")]
    if not chosen:
        raise InvalidRequest("Choose at least one event.", param="event_types")
    endpoint, secret = await visitor.services.webhook_endpoints().create(
        name=name, url=text_of(form, "url", longest=_LONGEST_URL).strip(), event_types=chosen
    )
    return await visitor.page(
        "webhooks/secret.html", endpoint_id=endpoint.id, secret=secret.text, title="New endpoint"
    )


@router.get("/{endpoint_id}")
async def endpoint_page(endpoint_id: str, visitor: SignedIn, after: After = None) -> Response:
    return await _shown(visitor, endpoint_id, after=after)


@router.post("/{endpoint_id}/test")
async def send_test(
    request: Request, endpoint_id: str, visitor: SignedIn, form: OwnForm
) -> Response:
    sent = form.get("event_type", "")
    if sent not in EVENT_TYPES:
        raise InvalidRequest("Choose one of the events.", param="event_type")
    status = await unless_client_hangs_up(
        request, visitor.services.webhook_endpoints().test(endpoint_id, sent)
    )
    return await _shown(visitor, endpoint_id, tested=status)


@router.post("/{endpoint_id}/rotate")
async def rotate(endpoint_id: str, visitor: SignedIn, form: OwnForm) -> Response:
    endpoint, secret = await visitor.services.webhook_endpoints().rotate(
        endpoint_id, keep_old=bool(form.get("keep_old"))
    )
    return await visitor.page(
        "webhooks/secret.html", endpoint_id=endpoint.id, secret=secret.text, title="New secret"
    )


@router.post("/{endpoint_id}/enable")
async def enable(endpoint_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    """Enables an endpoint that answered 410, by an update that changes nothing else."""
    await visitor.services.webhook_endpoints().update(
        endpoint_id, name=None, url=None, event_types=None
    )
    return redirect(f"/webhooks/{endpoint_id}")


@router.post("/{endpoint_id}/delete")
async def delete(endpoint_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    await visitor.services.webhook_endpoints().delete(endpoint_id)
    return redirect("/webhooks")


@router.post("/{endpoint_id}/deliveries/{delivery_id}/redeliver")
async def redeliver(
    endpoint_id: str, delivery_id: str, visitor: SignedIn, _form: OwnForm
) -> Response:
    await visitor.services.webhook_endpoints().redeliver(endpoint_id, delivery_id)
    return redirect(f"/webhooks/{endpoint_id}")


async def _shown(
    visitor: Visitor, endpoint_id: str, *, after: str | None = None, tested: int | None = None
) -> Response:
    endpoint = await visitor.services.webhook_endpoints().get(endpoint_id)
    deliveries, more = await visitor.services.webhook_endpoints().deliveries(
        endpoint_id, after=after, limit=50
    )
    return await visitor.page(
        "webhooks/endpoint.html",
        endpoint=endpoint,
        deliveries=deliveries,
        more=more,
        after=after,
        tested=tested,
    )
