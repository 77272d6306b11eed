"""The page about metrics names every series that a process shows, with its labels, and no other;
the dashboard asks for such series alone.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from pydantic import BaseModel, ConfigDict, Field

from app.http.monitoring import ProcessMetrics
from app.kit.telemetry import CALLS, EXPORTS
from tests.support.cases import cases
from workers.telemetry.__main__ import WorkerMetrics
from workers.telemetry.process_metrics import WORK

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "observability.md").read_text(encoding="utf-8")
DASHBOARD = json.loads((DOCS / "grafana" / "agent-rft.json").read_text(encoding="utf-8"))
_HEADING = re.compile(r"^### ", re.MULTILINE)
SECTIONS = {
    title: dict(re.findall(r"^\| `([a-z_:]+)(?:\{([a-z_,]+)\})?` \|", text, re.MULTILINE))
    for title, _, text in (
        part.partition("\n") for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)
    )
}
_OF_NAME = re.compile(r"\b(?:agent_rft_|vllm:|process_)\w+")
_PARTS = re.compile(r"_(?:bucket|sum|count)$")


def series(registry: CollectorRegistry) -> dict[str, str]:
    """Returns the names of a registry's series, as they are shown, with their labels."""
    found = {}
    for collector in set(registry._collector_to_names):
        for family in collector.collect():
            if family.name.startswith("process_"):
                continue
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = getattr(collector, "_labelnames", ())
            found[name] = ",".join(labels)
    return found


def test_the_page_names_what_each_process_shows(tmp_path: Path) -> None:
    metrics = WorkerMetrics(tmp_path, pid=os.getpid())
    assert series(ProcessMetrics()._registry) == SECTIONS["API processes"]
    assert series(CALLS) == SECTIONS["API processes and workers"]
    assert {**series(WORK), **series(EXPORTS), **series(metrics._registry)} == SECTIONS["Workers"]
    assert len(SECTIONS["Workers"]) > 10


class Grid(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    h: int = Field(ge=1)
    w: int = Field(ge=1, le=24)
    x: int = Field(ge=0, lt=24)
    y: int = Field(ge=0)


class Target(BaseModel):
    refId: str = Field(pattern=r"^[A-Z]$")
    expr: str = Field(min_length=1)
    legendFormat: str
    datasource: dict[str, str]


class Panel(BaseModel):
    id: int = Field(ge=1)
    type: str = Field(pattern=r"^(row|stat|timeseries)$")
    title: str = Field(min_length=1)
    gridPos: Grid
    targets: list[Target] = []
    datasource: dict[str, str] | None = None


class Dashboard(BaseModel):
    """The parts of Grafana's model of a dashboard without which it does not show this one."""

    title: str = Field(min_length=1)
    uid: str = Field(pattern=r"^[\w-]{1,40}$")
    schemaVersion: int = Field(ge=36)
    panels: list[Panel] = Field(min_length=1)
    templating: dict[str, list[dict[str, Any]]]
    time: dict[str, str]


def test_the_dashboard_is_a_dashboard() -> None:
    board = Dashboard.model_validate(DASHBOARD)
    ids = [panel.id for panel in board.panels]
    assert len(ids) == len(set(ids))
    cells = [
        (x, y)
        for panel in board.panels
        for x in range(panel.gridPos.x, panel.gridPos.x + panel.gridPos.w)
        for y in range(panel.gridPos.y, panel.gridPos.y + panel.gridPos.h)
    ]
    assert len(cells) == len(set(cells)), "no panel covers another"
    assert max(x for x, _ in cells) < 24
    (variable,) = board.templating["list"]
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
    for panel in board.panels:
        assert bool(panel.targets) == (panel.type != "row")
        assert len({target.refId for target in panel.targets}) == len(panel.targets)
        for target in panel.targets:
            assert target.datasource["uid"] == f"${{{variable['name']}}}"


@cases(
    "panel",
    [each for each in DASHBOARD["panels"] if "targets" in each],
    ids=lambda panel: str(panel["title"]),
)
def test_each_query_names_series_that_exist(panel: dict[str, Any]) -> None:
    labels_of = {name: labels for part in SECTIONS.values() for name, labels in part.items()}
    for target in panel["targets"]:
        query, known = target["expr"], {"le", "instance"}
        names = _OF_NAME.findall(query)
        assert names, query
        for name in names:
            base = name if name in labels_of else _PARTS.sub("", name)
            assert base in labels_of, name
            known |= set(labels_of[base].split(","))
        asked = re.findall(r"\{(\w+)[=!]", query)
        asked += re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
        for group in re.findall(r"by \(([^)]*)\)", query):
            asked += group.split(", ")
        assert set(asked) <= known, query
        assert query.count("(") == query.count(")")


def test_the_dashboard_shows_most_of_what_there_is() -> None:
    asked = {
        _PARTS.sub("", name)
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", [])
        for name in _OF_NAME.findall(target["expr"])
    }
    workers = set(SECTIONS["Workers"]) | set(SECTIONS["API processes and workers"])
    assert workers - asked == {"agent_rft_sampled_tokens_total", "agent_rft_worker_processes"}
