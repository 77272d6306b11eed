"""Recipes of a project in the Python layer, blocking and awaited, over real sockets."""

from collections.abc import Iterator

import pytest

from agent_rft import (
    AgentRFT,
    BadRequestError,
    ImprovementPlan,
    NotFoundError,
    Recipe,
)
from tests.support.contract.service import Service, running_service
from tests.support.registry.recipes import OWN
from tests.support.stack import Services


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[AgentRFT]:
    with AgentRFT(service.api.base_url, service.api.key) as made:
        yield made


def test_a_recipe_of_the_project(client: AgentRFT) -> None:
    made = Recipe.create(**OWN, client=client)
    assert made.id.startswith("recipe_")
    assert made.sample() == OWN["sample_curriculum"]
    assert [one.id for one in Recipe.all(client=client)][5:] == [made.id]
    plan = ImprovementPlan(recipe=made).compile("tiny-agent", client=client)
    assert plan.recipe == made.id
    assert made.update(sample_curriculum=None).sample() == {}
    made.delete()
    with pytest.raises(NotFoundError):
        Recipe.get(made.id, client=client)


def test_a_recipe_that_ships_is_neither_changed_nor_deleted(client: AgentRFT) -> None:
    shipped = Recipe.get("reasoning", client=client)
    for call in (shipped.delete, lambda: shipped.update(purpose="other")):
        with pytest.raises(BadRequestError, match="ships with the service"):
            call()
    with pytest.raises(BadRequestError, match="ships with the service"):
        Recipe.create(**{**OWN, "name": "reasoning"}, client=client)
    assert Recipe.get("reasoning", client=client).body == shipped.body
