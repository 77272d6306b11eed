"""Stores: the only room that contains SQL about tenants' rows.

A store is built for one tenant, except the modules that only the GPU plane may import (claims,
leases, the event reader and maintenance) and the claims of the Coach, which `Database` imports.
"""
