"""Celery's command line; imports by the interpreter's path alone, so no `queue.py` of the working
directory runs.
"""

from contextlib import nullcontext

from celery.__main__ import main
from celery.utils import imports

if __name__ == "__main__":
    imports.cwd_in_path = nullcontext
    main()
