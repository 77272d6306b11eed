"""GPU plane: claims jobs, samples rollouts, trains adapters and publishes them."""

import os

# Read by libgomp when torch is loaded. Its own value (300,000 turns) lets a process's threads wait
# for each other in a loop of a millisecond, which pays on a machine that does nothing else. Beside
# other work it burns the time that the thread waited for needs: a training step took 15 s and not
# 0.5, the engine gave 250 tokens/s and not 3,000. This one is libgomp's where it knows that a
# process has more threads than cores; it does not know of other processes.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
