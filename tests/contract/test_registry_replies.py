"""Live replies of registered objects fit the published specification, and the generated client
reads them, with and without warnings.
"""

import json
from typing import Any, Protocol

import httpx
import pytest
from jsonschema_rs import Draft202012Validator

from agent_rft_client.models.curriculum import Curriculum
from agent_rft_client.models.environment import Environment
from agent_rft_client.models.page_curriculum import PageCurriculum
from agent_rft_client.models.page_environment import PageEnvironment
from agent_rft_client.models.page_recipe import PageRecipe
from agent_rft_client.models.page_registered_grader import PageRegisteredGrader
from agent_rft_client.models.page_tool import PageTool
from agent_rft_client.models.recipe_details import RecipeDetails
from agent_rft_client.models.registered_grader import RegisteredGrader
from agent_rft_client.models.tool import Tool
from openapi.generate import TARGET
from tests.support.contract.service import ENDPOINT, Service
from tests.support.patience import PATIENCE_S
from tests.support.registry.recipes import OWN


class Model(Protocol):
    """A model of the generated client."""

    @classmethod
    def from_dict(cls, src_dict: dict[str, Any]) -> "Model": ...

    def to_dict(self) -> dict[str, Any]: ...


CHECK = {
    "type": "string_check", "name": "same", "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}", "operation": "eq",
}  # fmt: skip
ROW = {"messages": [{"role": "user", "content": "hi"}]}
KINDS: dict[str, tuple[dict[str, Any], type[Model], type[Model]]] = {
    "tools": ({"name": "search", "server_url": ENDPOINT}, Tool, PageTool),
    "graders": ({"name": "g", "grader": CHECK}, RegisteredGrader, PageRegisteredGrader),
    "environments": ({"name": "e", "url": ENDPOINT}, Environment, PageEnvironment),
    "curricula": ({"name": "c", "training": [ROW]}, Curriculum, PageCurriculum),
}


@pytest.mark.parametrize("noun", KINDS)
def test_every_reply_fits_its_schema_and_the_generated_client_reads_it(
    service: Service, noun: str
) -> None:
    body, one, page = KINDS[noun]
    specification = json.loads(TARGET.read_text(encoding="utf-8"))
    found = {name: schema_of(specification, name) for name in (one.__name__, page.__name__)}
    with httpx.Client(
        base_url=service.api.base_url,
        headers={"Authorization": f"Bearer {service.api.key}"},
        timeout=PATIENCE_S,
    ) as client:
        made = client.post(noun, json=body).raise_for_status().json()
        warned = client.post(noun, json={**body, "name": "other", "metdata": "?"}).json()
        path = f"{noun}/{made['id']}"
        got = client.get(path).json()
        updated = client.post(path, json={"metadata": {"a": "b"}}).json()
        rewarned = client.post(path, json={"metdata": "?"}).json()
        listed = client.get(noun).json()
    assert [len(reply["warnings"]) for reply in (warned, rewarned)] == [1, 1]
    assert not [reply for reply in (made, got, updated, *listed["data"]) if "warnings" in reply]
    for reply in (made, warned, got, updated, rewarned):
        found[one.__name__].validate(reply)
        assert one.from_dict(reply).to_dict() == reply
    assert len(listed["data"]) == 2
    found[page.__name__].validate(listed)
    assert page.from_dict(listed).to_dict() == listed


def test_replies_of_recipes_fit_their_schemas_and_the_generated_client_reads_them(
    service: Service,
) -> None:
    specification = json.loads(TARGET.read_text(encoding="utf-8"))
    with httpx.Client(
        base_url=service.api.base_url,
        headers={"Authorization": f"Bearer {service.api.key}"},
        timeout=PATIENCE_S,
    ) as client:
        made = client.post("recipes", json=OWN).raise_for_status().json()
        path = f"recipes/{made['id']}"
        bare = client.post(path, json={"sample_curriculum": None, "metadata": {"a": "b"}}).json()
        shipped = client.get("recipes/reasoning").json()
        lists = [client.get("recipes").json(), client.get(f"{path}/versions").json()]
    for reply in (made, bare, shipped):
        schema_of(specification, RecipeDetails.__name__).validate(reply)
        assert RecipeDetails.from_dict(reply).to_dict() == reply
    assert [len(each["data"]) for each in lists] == [6, 2]
    for listed in lists:
        schema_of(specification, PageRecipe.__name__).validate(listed)
        assert PageRecipe.from_dict(listed).to_dict() == listed


def schema_of(specification: dict[str, Any], client_name: str) -> Draft202012Validator:
    """Returns the check of a schema by the name of its class in the client."""
    name = next(
        name
        for name in specification["components"]["schemas"]
        if name.replace("_", "") == client_name
    )
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", **specification})
