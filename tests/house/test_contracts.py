from tests.house.contracts import children, imported, read
from tests.house.tree import python_files

GPU_PLANE = "The GPU plane never imports what serves the control plane alone"
HTTP_ALONE = "Commands of a running service speak HTTP alone"
NO_ROWS = "Services see no rows: they reach stores through Database and a unit of work"


def test_the_gpu_plane_may_import_no_more_of_the_control_plane_than_it_does() -> None:
    names = [name.split(".") for _, text in python_files("workers") for name in imported(text)]
    used = {".".join(parts[:2]) for parts in names if parts[0] == "app"}
    tops = children("app")
    assert {"app.domain", "app.store"} <= used <= tops
    assert set(read(GPU_PLANE)["forbidden_modules"]) == tops - used


def test_services_may_import_two_rooms_of_the_store_only() -> None:
    open_rooms = {"app.database"}
    rooms = children("app/store")
    assert open_rooms < rooms
    assert set(read(NO_ROWS)["forbidden_modules"]) == rooms - open_rooms


def test_each_command_of_a_running_service_uses_http_only() -> None:
    found = set[str]()
    for path, text in python_files("app/cli"):
        if any(name.startswith("app.cli.remote.") for name in imported(text)):
            found.add(".".join(path.with_suffix("").parts[:3]))
    assert {"app.cli.jobs", "app.cli.models"} <= found
    assert found <= set(read(HTTP_ALONE)["source_modules"])
