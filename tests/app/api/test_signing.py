from tests.support.api.application import Api


async def test_each_project_has_its_own_stable_signing_secret(api: Api) -> None:
    mine = (await api.call("GET", "/v1/signing_secret")).json()
    again = (await api.call("GET", "/v1/signing_secret")).json()
    theirs = (await api.call("GET", "/v1/signing_secret", key=api.other_key)).json()
    assert mine == again != theirs
    assert mine["secret"].startswith("whsec_")
