"""Builds services from stores and gateways; the only room that imports all three.

Owns: the pools and clients of a process, and the dependencies of each service. Promises: a service
of a tenant is built with that tenant alone. Must not know: rules of a use case, HTTP.
"""
