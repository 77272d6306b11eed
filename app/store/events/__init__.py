"""The event log: appended to in the transaction of the change, read by consumers from a cursor."""
