"""Files on a disk, for the control plane and workers: digests, directories of models."""
