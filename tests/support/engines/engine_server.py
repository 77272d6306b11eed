"""A real CPU engine on a real socket, in a thread of the test process."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from app.models.models import BaseModelSpec
from tests.support.web.web_server import running_app
from workers.engines.cpu.batching.scheduler import Limits
from workers.engines.cpu.engine import Engine
from workers.engines.cpu.http.server import build_app


@contextmanager
def running_engine(
    specs: list[BaseModelSpec], *, api_key: str = "", limits: Limits | None = None
) -> Iterator[str]:
    """Yields the base URL."""
    engine = Engine(specs, limits or Limits(threads=1))
    app = partial(build_app, engine, api_key=api_key)
    with running_app(app, start=engine.start, stop=engine.stop) as url:
        yield url
