"""Runs Celery's command line: `python -P -m workers.celery_command -A workers.celery_app worker`.
Celery imports applications, tasks and schedulers with the working directory before all other
folders, and has no option against it. Here it imports by the path of the interpreter alone, so that
a file such as `queue.py` or `secrets.py` of that directory does not run in a worker.
"""

from contextlib import nullcontext

from celery.__main__ import main
from celery.utils import imports

if __name__ == "__main__":
    imports.cwd_in_path = nullcontext
    main()
