"""The mathematics: advantages, batches, losses, trainer, adapters. Knows no rows or sockets."""
