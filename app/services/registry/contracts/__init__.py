"""Contract tests of registered objects: real calls over the path that training uses."""
