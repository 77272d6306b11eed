"""The sandbox: runs code of customers and of models, each program in a process of its own.

    runner ------ fork server ------ keeper ------ program
    socket,       interpreter   new process   its layers of
    slots,        with modules  namespace,    protection, then
    deadlines     imported      waits for it  the code

The runner (`runner.py`) knows clients and no code. The fork server (`fork_server.py`) never sees a
program: each one reaches its process over a channel of its own, so no process holds what an earlier
or another program was given. No reader trusts the bytes that a program's process writes.
"""
