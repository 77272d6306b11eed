"""Runs Celery's command line: `python -P -m workers.celery_command -A workers.celery_app worker`.

Celery imports applications and tasks with the working directory before all other folders, unless
the path of imports has it already. Here the path has it, last, so that a file such as `queue.py`
or `secrets.py` there takes the place of no module.
"""

import os
import sys

from celery.__main__ import main

if __name__ == "__main__":
    sys.path.append(os.getcwd())  # noqa: PTH109 - Celery compares it with this very text
    main()
