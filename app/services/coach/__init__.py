"""Use cases of the Coach: its sessions, the steps that they take, and the jobs that these make."""
