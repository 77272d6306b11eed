"""The page about metrics names every series that a process shows, with its labels, and no other;
the dashboard asks for such series alone.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from app.http.monitoring import ProcessMetrics
from app.kit.telemetry import CALLS, EXPORTS
from tests.support.cases import cases
from workers.telemetry.__main__ import WorkerMetrics
from workers.telemetry.process_metrics import WORK

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "observability.md").read_text(encoding="utf-8")
DASHBOARD = json.loads((DOCS / "grafana" / "agent-rft.json").read_text(encoding="utf-8"))
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
