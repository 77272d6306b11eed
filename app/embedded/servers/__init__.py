"""Postgres and Valkey on this machine: their programs, files and readiness."""
