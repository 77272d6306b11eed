"""`agent-rft profiles`, and the address and key that a command takes."""

import fcntl
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.cli import profiles
from app.cli.profiles import (
    AddressSources,
    Profile,
    ServiceAddress,
    address_of,
    read_profiles,
    variables_of,
    write_profiles,
)
from app.cli.terminal import ServiceError
from tests.support.cli.command_line import agent_rft
from tests.support.cli.scripted_service import reply, scripted_service

KEY = "art_project_secret"
URL = "http://service.example/v1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return str(tmp_path / "config")


def file_of(home: str) -> Path:
    return Path(home) / "agent-rft" / "profiles.json"


def named(
    base_url: str | None = None,
    api_key: str | None = None,
    profile: str | None = None,
    **environment: str,
) -> AddressSources:
    variables = variables_of(environment, key_is_typed=api_key is not None)
    return AddressSources(base_url, api_key, profile, variables)


OURS = {"AGENT_RFT_BASE_URL": "http://v/v1", "AGENT_RFT_API_KEY": "variable"}
THEIRS = {"OPENAI_BASE_URL": "http://openai/v1", "OPENAI_API_KEY": "sk-theirs"}


def test_profiles_are_added_listed_and_removed_without_a_key_in_sight(home: str) -> None:
    umask = os.umask(0)
    try:
        for name in ("staging", "default"):
            arguments = ("profiles", "add", name, "--base-url", URL)
            added = agent_rft(*arguments, stdin=f"{KEY}\n", XDG_CONFIG_HOME=home)
            assert (added.returncode, added.stdout) == (0, "")
            assert added.stderr == f"agent-rft: profile {name} is in {file_of(home)}\n"
    finally:
        os.umask(umask)
    assert stat.S_IMODE(file_of(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(file_of(home).parent.stat().st_mode) == 0o700
    content = json.loads(file_of(home).read_text())
    assert content["staging"] == {"base_url": URL, "api_key": KEY}
    listed = agent_rft("profiles", "list", "--json", XDG_CONFIG_HOME=home)
    assert json.loads(listed.stdout) == {
        "version": 1,
        "command": "profiles list",
        "data": [{"name": name, "base_url": URL} for name in ("default", "staging")],
        "has_more": False,
        "error": None,
    }
    shown = agent_rft("profiles", "list", XDG_CONFIG_HOME=home)
    assert KEY not in listed.stdout + shown.stdout + shown.stderr
    removed = agent_rft("profiles", "remove", "default", XDG_CONFIG_HOME=home)
    assert removed.returncode == 0
    assert list(json.loads(file_of(home).read_text())) == ["staging"]
    assert sorted(one.name for one in file_of(home).parent.iterdir()) == [
        ".profiles.lock",
        "profiles.json",
    ]


def test_no_profile_is_lost_when_several_are_changed_at_once(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[bool] = []
    write_profiles({})
    file_of(home).with_name(".profiles.lock").touch()

    def note_lock() -> None:
        with file_of(home).with_name(".profiles.lock").open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                locked.append(True)
            else:
                locked.append(False)

    def read() -> dict[str, Profile]:
        note_lock()
        return read_profiles()

    def write(changed: Mapping[str, Profile]) -> None:
        note_lock()
        write_profiles(changed)

    monkeypatch.setattr(profiles, "_read_key", lambda: KEY)
    monkeypatch.setattr(profiles, "read_profiles", read)
    monkeypatch.setattr(profiles, "write_profiles", write)
    profiles.add(name="first", base_url=URL)
    profiles.add(name="second", base_url=URL)
    profiles.remove(name="first")
    # A name that is taken is found before the key is asked for, and once more under the lock.
    assert locked == [False, True, True] * 2 + [True] * 2
    note_lock()
    assert locked[-1] is False
    assert list(json.loads(file_of(home).read_text())) == ["second"]


def test_a_linked_file_stays_a_link(home: str, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "profiles.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    kept.chmod(0o600)
    file_of(home).parent.mkdir(parents=True)
    file_of(home).symlink_to(kept)
    added = agent_rft("profiles", "add", "p", "--base-url", URL, stdin=KEY, XDG_CONFIG_HOME=home)
    assert added.returncode == 0, added.stderr
    assert file_of(home).readlink() == kept
    assert list(json.loads(kept.read_text())) == ["p"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "stdin", "reported"),
    [
        (("add", "a/b", "--base-url", URL), KEY, "a name has letters"),
        (("add", "a", "--base-url", "http://u:p@x/v1"), KEY, "no user and no password"),
        (("add", "a", "--base-url", URL), "", "standard input has no API key"),
        (("add", "kept", "--base-url", URL), KEY, "pass --force to replace it"),
    ],
)
def test_a_profile_that_cannot_be_used_is_refused(
    home: str, arguments: tuple[str, ...], stdin: str, reported: str
) -> None:
    write_profiles({"kept": Profile(base_url=URL, api_key=KEY)})
    done = agent_rft("profiles", *arguments, stdin=stdin, XDG_CONFIG_HOME=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported in done.stderr
    assert KEY not in done.stderr
    assert list(json.loads(file_of(home).read_text())) == ["kept"]


@pytest.mark.usefixtures("home")
def test_options_come_first_then_a_chosen_profile_then_variables() -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    variables = named(**OURS)
    assert address_of(variables).base_url == "http://v/v1"
    chosen = address_of(named(profile="p", **OURS))
    assert (chosen.base_url, chosen.api_key) == (URL, KEY)
    sent = address_of(named("http://o/v1", "option", "p", **OURS))
    assert (sent.base_url, sent.api_key) == ("http://o/v1", "option")
    assert KEY not in repr(chosen)
    assert address_of(named()).base_url is None
    write_profiles({"default": Profile(base_url=URL, api_key=KEY)})
    assert address_of(named()).api_key == KEY
    assert address_of(variables).api_key == "variable"


@pytest.mark.usefixtures("home")
def test_a_profiles_key_goes_to_its_own_address_only() -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    with pytest.raises(ServiceError, match=r"is for http://service\.example/v1 only") as refused:
        address_of(named("http://o/v1", None, "p"))
    assert (refused.value.exit_code, KEY in str(refused.value)) == (2, False)
    with pytest.raises(ServiceError, match="no profile q; there are: p"):
        address_of(named(profile="q"))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("given", "found"),
    [
        (named(**OURS, **THEIRS), ServiceAddress("http://v/v1", "variable")),
        (
            named(AGENT_RFT_BASE_URL="http://v/v1", OPENAI_API_KEY="sk-theirs"),
            ServiceAddress("http://v/v1", None),
        ),
        (
            named(OPENAI_BASE_URL="http://openai/v1", AGENT_RFT_API_KEY="variable"),
            ServiceAddress(None, "variable"),
        ),
        (named("http://o/v1", OPENAI_API_KEY="sk-theirs"), ServiceAddress("http://o/v1", None)),
        (named(None, "typed", **THEIRS), ServiceAddress(None, "typed")),
        (named("http://o/v1", "typed", **OURS), ServiceAddress("http://o/v1", "typed")),
        (named("http://v/v1/", **OURS), ServiceAddress("http://v/v1/", "variable")),
    ],
)
def test_a_key_goes_with_the_address_of_its_own_family(
    given: AddressSources, found: ServiceAddress
) -> None:
    assert address_of(given) == found


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("variables", [OURS, THEIRS])
def test_a_key_of_variables_goes_to_no_other_typed_address(variables: dict[str, str]) -> None:
    with pytest.raises(ServiceError, match="for their own address only: pass --api-key") as refused:
        address_of(named("http://o/v1", **variables))
    assert refused.value.exit_code == 2


@pytest.mark.usefixtures("home")
def test_a_key_without_an_address_is_not_ignored_beside_a_default_profile() -> None:
    write_profiles({"default": Profile(base_url=URL, api_key=KEY)})
    with pytest.raises(ServiceError, match="AGENT_RFT_API_KEY is set without AGENT_RFT_BASE_URL"):
        address_of(named(AGENT_RFT_API_KEY="variable"))
    assert address_of(named(None, "typed")) == ServiceAddress(URL, "typed")
    assert address_of(named(OPENAI_API_KEY="sk-theirs")) == ServiceAddress(URL, KEY)
    assert address_of(named(profile="default", AGENT_RFT_API_KEY="k")) == ServiceAddress(URL, KEY)


def test_a_key_of_another_family_is_never_sent() -> None:
    with scripted_service([reply("{}")]) as ours, scripted_service([reply("{}")]) as theirs:
        leaks = [
            {"AGENT_RFT_BASE_URL": ours.base_url, "OPENAI_API_KEY": "sk-theirs"},
            {"OPENAI_BASE_URL": theirs.base_url, "AGENT_RFT_API_KEY": "k"},
        ]
        done = [agent_rft("jobs", "list", **leak) for leak in leaks]
        assert ours.requests == theirs.requests == []
    assert [(one.returncode, one.stdout) for one in done] == [(2, ""), (2, "")]
    assert "no key is given" in done[0].stderr
    assert "no service is named" in done[1].stderr


def test_a_file_that_others_may_read_is_refused(home: str) -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    file_of(home).chmod(0o640)
    with pytest.raises(ServiceError, match="run chmod 600 on it"):
        address_of(named(profile="p"))
    file_of(home).chmod(0o600)
    file_of(home).write_text('{"p": {"base_url": 1}}')
    with pytest.raises(ServiceError, match="is not a file of profiles") as refused:
        address_of(named(profile="p"))
    assert refused.value.exit_code == 2


def test_a_command_calls_the_service_of_its_profile(home: str) -> None:
    write_profiles({"p": Profile(base_url="http://127.0.0.1:9/v1", api_key=KEY)})
    for chosen, variables in ((("--profile", "p"), {}), ((), {"AGENT_RFT_PROFILE": "p"})):
        done = agent_rft("jobs", "list", *chosen, XDG_CONFIG_HOME=home, **variables)
        assert done.returncode == 15
        assert done.stderr.startswith("agent-rft: no answer from http://127.0.0.1:9/v1: ")
        assert KEY not in done.stderr
