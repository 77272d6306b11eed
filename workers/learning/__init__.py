"""The mathematics: rewards to advantages, rollouts to batches, batches to gradients, gradients to
an adapter. Knows no rows, queues or sockets, and nothing of how a rollout came about.
"""
