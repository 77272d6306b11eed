"""Every page below `/teach` answers for objects of another project as if they had never been."""

import re

from tests.support.api.application import Api
from tests.support.dashboard.teaching import follow, make_examples, make_student
from tests.support.dashboard.visits import Visit, visiting
from tests.support.registry.recipes import OWN

STUDENT = "/teach/students/clerk"


async def test_students_and_examples_of_another_project_are_not_found(
    visit: Visit, api: Api
) -> None:
    await make_student(visit, "clerk")
    curriculum = str((await make_examples(visit, "secret-examples")).url).rpartition("/")[2]
    fields = {"recipe": "customer_support", "curriculum": curriculum}
    job = str((await follow(visit, f"{STUDENT}/plan", fields)).url).rpartition("/")[2]
    query = f"recipe=customer_support&curriculum={curriculum}"
    recipe = (await api.call("POST", "/v1/recipes", json={**OWN, "name": "secret"})).json()["id"]
    pages = [
        *(f"/plan?recipe={recipe}", f"/estimate?recipe={recipe}"),
        *("", "/chat", "/practice", f"/practice?curriculum={curriculum}"),
        *(f"/plan?{query}", f"/estimate?{query}", f"/jobs/{job}"),
    ]
    forms: list[tuple[str, dict[str, str]]] = [
        ("/keep", {"source": "sample:reasoning"}),
        ("/propose", {"job": job}),
        ("/promote", {"skill": "skill_1"}),
        *(("/roll-back", {}), ("/plan", fields), (f"/jobs/{job}/stop", {})),
        *(("/chat", {"prompt": "x"}), ("/feedback", {"answer": "x", "judgement": "up"})),
    ]
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        for page in pages:
            assert (await visit.get(f"{STUDENT}{page}")).status_code == 200, page
            foreign = await stranger.get(f"{STUDENT}{page}")
            never = await stranger.get(f"/teach/students/never{page}")
            assert (foreign.status_code, never.status_code) == (404, 404), page
            assert foreign.text.replace("clerk", "never") == never.text, page
        for form, sent in forms:
            assert (await follow(stranger, f"{STUDENT}{form}", sent)).status_code == 404, form
        foreign = await stranger.get(f"/teach/examples/{curriculum}")
        never = await stranger.get("/teach/examples/curr_never")
        assert (foreign.status_code, never.status_code) == (404, 404)
        assert foreign.text.replace(curriculum, "curr_never") == never.text
        await make_student(stranger, "second")
        practice = (await stranger.get("/teach/students/second/practice")).text
        assert re.search("secret|recipe_", practice) is None
        for page in (f"/plan?recipe={recipe}", f"/estimate?recipe={recipe}"):
            assert (await stranger.get(f"/teach/students/second{page}")).status_code == 404, page
        for page in ("/teach", "/teach/examples"):
            assert re.search(">clerk<|secret", (await stranger.get(page)).text) is None, page
        await make_student(stranger, "clerk")
        own = [
            *(f"/practice?curriculum={curriculum}", f"/plan?{query}", f"/estimate?{query}"),
            f"/jobs/{job}",
        ]
        for page in own:
            assert (await stranger.get(f"{STUDENT}{page}")).status_code == 404, page
        for form, sent in (
            ("/plan", fields),
            (f"/jobs/{job}/stop", {}),
            ("/propose", {"job": job}),
            ("/keep", {"source": curriculum}),
        ):
            refused = await follow(stranger, f"{STUDENT}{form}", sent)
            assert refused.status_code in (400, 404), form
    assert (await api.call("GET", f"/v1/fine_tuning/jobs/{job}")).json()["status"] != "cancelled"


async def test_no_page_is_shown_without_a_session(guest: Visit) -> None:
    for path in ("/teach", STUDENT, f"{STUDENT}/chat", "/teach/examples"):
        reply = await guest.get(path)
        assert (reply.status_code, reply.headers["location"][:8]) == (303, "/sign-in"), path
