"""The mathematics of training: advantages from rewards, batches from rollouts, gradients from
batches and an adapter from gradients. Must not know rows, queues, sockets or how rollouts are
sampled.
"""
