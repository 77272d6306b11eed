"""The route of process metrics, which Prometheus reads with the operator's key."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from app.api.support.dependencies import Context
from app.domain.errors import AuthenticationFailed
from app.domain.http.bearer import has_key

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def process_metrics(request: Request, context: Context) -> Response:
    """Returns the metrics of this process, and the jobs of the installation by status. Raises
    `AuthenticationFailed` for any key but the operator's `AGENT_RFT_MONITORING_KEY`.
    """
    key = context.settings.monitoring_key
    if key is None:
        raise HTTPException(404)
    if not has_key(request.headers.get("authorization"), key.get_secret_value()):
        raise AuthenticationFailed(
            "Send the operator's AGENT_RFT_MONITORING_KEY as bearer token; a project's key reads "
            "no metrics.",
            code="invalid_api_key",
        )
    content = request.app.state.process_metrics.show(*await context.monitoring().look())
    return Response(content, media_type=CONTENT_TYPE_LATEST)
