"""The route of process metrics, which Prometheus reads with the operator's key."""

import hmac

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from app.api.support.dependencies import Context, Credentials
from app.domain.errors import AuthenticationFailed

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def process_metrics(request: Request, context: Context, credentials: Credentials) -> Response:
    """Returns the metrics of this process, and the jobs of the installation by status. Raises
    `AuthenticationFailed` for any key but the operator's `AGENT_RFT_MONITORING_KEY`.
    """
    key = context.settings.monitoring_key
    if key is None:
        raise HTTPException(404)
    sent = "" if credentials is None else credentials.credentials
    if not hmac.compare_digest(sent.encode(), key.get_secret_value().encode()):
        raise AuthenticationFailed(
            "Send the operator's AGENT_RFT_MONITORING_KEY as bearer token; a project's key reads "
            "no metrics.",
            code="invalid_api_key",
        )
    content = request.app.state.process_metrics.show(*await context.monitoring().look())
    return Response(content, media_type=CONTENT_TYPE_LATEST)
