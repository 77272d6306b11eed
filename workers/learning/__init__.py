"""The mathematics of training: advantages from rewards, batches from rollouts, gradients from
batches and an adapter from gradients.
"""
