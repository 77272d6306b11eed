"""What vLLM's plugins import of this project works in vLLM's environment, which we do not fill."""

import subprocess
import sys

PROGRAM = """
import sys
PRESENT = {"pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection",
           "jinja2", "markupsafe", "huggingface_hub", "tokenizers"}  # vLLM requires them
OURS = {"app", "workers"}

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        caller = sys._getframe(1)
        while caller.f_globals.get("__name__", "").startswith("importlib"):
            caller = caller.f_back
        by = caller.f_globals.get("__name__", "").partition(".")[0]
        if by in OURS and top not in PRESENT | OURS | set(sys.stdlib_module_names):
            raise ModuleNotFoundError(f"vLLM's environment may lack {name}")

sys.meta_path.insert(0, Absent())
from app.rollouts import chat_template, turns
print("imported")
"""


def test_reading_turns_needs_no_library_that_vllm_does_not_bring() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.stdout == "imported\n", done.stderr[-2000:]
