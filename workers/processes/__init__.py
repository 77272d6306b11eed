"""Processes of the GPU plane: claims, child processes, renewals, sweeps. The same for every kind of
leased work.
"""
