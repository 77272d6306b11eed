"""Options of methods whose values rule out an effect. Must not know calls, rows or models."""
