"""The production file contains only existing settings, and the roles that migrations grant to."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from app.kit.settings_sources import CONFIG_VARIABLE, PREFIX
from app.local.servers import LOST_PEERS
from app.settings import APP_ROLE, OWNER_ROLE, WORKER_ROLE, HostSettings, Settings

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    text = (_ROOT / "docker-compose.yml").read_text()
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def test_every_variable_is_a_setting(compose: dict[str, Any]) -> None:
    known = {*_variables(Settings, PREFIX), *_variables(HostSettings, PREFIX), CONFIG_VARIABLE}
    named = {
        variable
        for service in compose["services"].values()
        for variable in service.get("environment", {})
        if variable.startswith(PREFIX)
    }
    assert named - known == set()
    assert len(named) >= 8
    assert "AGENT_RFT_SANDBOX__SOCKET" in named


def test_each_process_gets_the_url_of_its_role_only(compose: dict[str, Any]) -> None:
    roles = {"api": APP_ROLE, "runs": WORKER_ROLE, "runs-gpu": WORKER_ROLE, "control": WORKER_ROLE}
    for service, role in roles.items():
        environment = compose["services"][service]["environment"]
        urls = [value for name, value in environment.items() if name.endswith("DATABASE_URL")]
        assert [url.split("://")[1].split(":")[0] for url in urls] == [role]
    assert (
        OWNER_ROLE in compose["services"]["migrate"]["environment"]["AGENT_RFT_OWNER_DATABASE_URL"]
    )


SECRETS = {
    "AGENT_RFT_SECRET_KEY": "secret key",
    "AGENT_RFT_OLDER_SECRET_KEYS": "secret key",
    "AGENT_RFT_REDIS_URL": "broker",
    "REDISCLI_AUTH": "broker",
    "AGENT_RFT_ENGINE_API_KEY": "engine",
    "VLLM_API_KEY": "engine",
    "AGENT_RFT_MONITORING_KEY": "monitoring",
    "AGENT_RFT_DATABASE_URL": "database",
    "AGENT_RFT_OWNER_DATABASE_URL": "database",
    "POSTGRES_PASSWORD": "database",
    "OWNER_PASSWORD": "database",
    "APP_PASSWORD": "database",
    "WORKER_PASSWORD": "database",
    "GF_SECURITY_ADMIN_PASSWORD": "grafana",
}
WORKER = {"secret key", "broker", "engine", "monitoring", "database"}
KNOWN = {
    "postgres": {"database"},
    "valkey": {"broker"},
    "migrate": {"secret key", "database"},
    "api": WORKER,
    "runs": WORKER,
    "runs-gpu": WORKER,
    "control": WORKER,
    "sandbox": set[str](),
    "engine": {"engine"},
    "vllm": {"engine"},
    "prometheus": set[str](),
    "grafana": {"grafana"},
}
OURS = {"api", "runs", "runs-gpu", "control", "migrate", "engine", "sandbox"}


def test_each_service_has_the_secrets_that_it_needs(compose: dict[str, Any]) -> None:
    assert compose["services"].keys() == KNOWN.keys()
    read = re.compile(r"\$\{(\w+)")
    for name, service in compose["services"].items():
        environment = service.get("environment", {})
        assert {SECRETS[each] for each in environment if each in SECRETS} == KNOWN[name], name
        # No secret under another variable, and none that may be left out.
        for variable, value in environment.items():
            if re.search("PASSWORD|SECRET|_KEY", " ".join(read.findall(str(value)))):
                assert variable in SECRETS, (name, variable)
                must = variable not in {"AGENT_RFT_OLDER_SECRET_KEYS", "AGENT_RFT_MONITORING_KEY"}
                assert (":?" in value) is must, (name, variable)


def test_our_containers_can_change_their_volumes_alone(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["mem_limit"]
        assert service["pids_limit"] >= 1024
        assert ("healthcheck" in service) is (name != "migrate"), name
        if name in OURS:
            assert (service["read_only"], service["cap_drop"], service["tmpfs"]) == (
                True, ["ALL"], ["/tmp"],  # noqa: S108 - of a container
            ), name  # fmt: skip
    volumes = {name: compose["services"][name]["volumes"] for name in ("engine", "vllm", "migrate")}
    assert all("data:/data:ro" in each for each in volumes.values())
    assert volumes["engine"] == ["data:/data:ro", "engine:/cache"]


def test_the_example_of_settings_has_what_the_file_asks_for() -> None:
    example = (_ROOT / ".env.example").read_text()
    named = set(re.findall(r"^(?:# )?([A-Z_]+)=", example, re.MULTILINE))
    text = (_ROOT / "docker-compose.yml").read_text()
    required = set(re.findall(r"\$\{([A-Z_]+):\?", text))
    assert len(required) == 8
    assert required <= set(re.findall(r"^([A-Z_]+)=$", example, re.MULTILINE))
    assert named <= set(re.findall(r"\$\{([A-Z_]+)", text))


def test_a_worker_of_runs_has_one_job_at_a_time(compose: dict[str, Any]) -> None:
    for name in ("runs", "runs-gpu"):
        assert " worker -Q runs -c 1 " in compose["services"][name]["command"]


def test_the_sandbox_has_no_secret_and_no_network(compose: dict[str, Any]) -> None:
    sandbox = compose["services"]["sandbox"]
    assert set(sandbox["environment"]) == {"AGENT_RFT_SANDBOX__SOCKET", "AGENT_RFT_SANDBOX__FLOOR"}
    assert sandbox["volumes"] == ["sandbox:/run/agent-rft"]
    assert sandbox["network_mode"] == "none"
    for caller in ("api", "runs", "runs-gpu", "control"):
        service = compose["services"][caller]
        assert "sandbox:/run/agent-rft" in service["volumes"]
        assert (
            service["environment"]["AGENT_RFT_SANDBOX__SOCKET"]
            == sandbox["environment"]["AGENT_RFT_SANDBOX__SOCKET"]
        )


def test_the_roles_script_gets_the_names_of_the_settings(compose: dict[str, Any]) -> None:
    script = compose["configs"]["make_roles"]["content"]
    for variable, role in {"owner": OWNER_ROLE, "app": APP_ROLE, "worker": WORKER_ROLE}.items():
        assert f"-v {variable}={role} " in script


def test_only_the_api_and_grafana_are_published_and_on_loopback(compose: dict[str, Any]) -> None:
    published = {
        name: service["ports"]
        for name, service in compose["services"].items()
        if "ports" in service
    }
    assert published == {"api": ["127.0.0.1:8000:8000"], "grafana": ["127.0.0.1:3000:3000"]}


def test_prometheus_reads_each_process_on_the_port_that_it_has(compose: dict[str, Any]) -> None:
    scraped = yaml.safe_load(compose["configs"]["prometheus"]["content"])["scrape_configs"]
    targets = {
        name: found["port"]
        for job in scraped
        for found in job["dns_sd_configs"]
        for name in found["names"]
    }
    services = compose["services"]
    workers = {name for name in targets if name not in {"api", "engine"}}
    assert workers == {"runs", "runs-gpu", "control"}
    for worker in workers:
        environment = services[worker]["environment"]
        assert int(environment["AGENT_RFT_TELEMETRY__METRICS_PORT"]) == targets[worker]
        assert environment["AGENT_RFT_MONITORING_KEY"] == "${MONITORING_KEY:-}"
    assert targets["api"] == 8000
    assert f"--port {targets['engine']}" in services["engine"]["command"]
    assert {job["authorization"]["credentials"] for job in scraped} == {
        services["api"]["environment"]["AGENT_RFT_MONITORING_KEY"],
        services["engine"]["environment"]["AGENT_RFT_ENGINE_API_KEY"],
    }


def test_grafana_gets_the_dashboard_of_this_repository(compose: dict[str, Any]) -> None:
    (volume,) = [each for each in compose["services"]["grafana"]["volumes"] if "/docs/" in each]
    source, target, _ = volume.split(":")
    provider = yaml.safe_load(compose["configs"]["grafana_dashboards"]["content"])["providers"][0]
    assert provider["options"]["path"] == target
    assert (_ROOT / source / "agent-rft.json").is_file()


def test_the_database_notices_lost_clients_as_the_embedded_one_does(
    compose: dict[str, Any],
) -> None:
    words = compose["services"]["postgres"]["command"].split()
    assert words[0] == "postgres"
    assert dict(word.split("=") for word in words if "=" in word) == LOST_PEERS


def _variables(section: type[BaseModel], head: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        yield head + name.upper()
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _variables(part, f"{head}{name.upper()}__")
