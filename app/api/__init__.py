"""HTTP routes: convert requests to domain values and back. One file per noun; services come from
the factory.
"""
