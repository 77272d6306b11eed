"""Attacks on files, secrets and the memory of others. `facts` has the paths and process ids."""

from typing import Final

FILES: Final = {
    "overwrite": """
def attack(facts):
    with open(facts["victim"], "w") as file:
        file.write("changed")
""",
    "append": """
def attack(facts):
    with open(facts["victim"], "ab") as file:
        file.write(b"changed")
""",
    "create": """
import os
def attack(facts):
    os.open(facts["directory"] + "/new", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
""",
    "create_unnamed": """
import os
def attack(facts):
    handle = os.open(facts["directory"], os.O_TMPFILE | os.O_WRONLY)
    os.write(handle, b"x" * 1000)
    os.link(f"/proc/self/fd/{handle}", facts["directory"] + "/new")
""",
    "make_directory": """
import os
def attack(facts):
    os.mkdir(facts["directory"] + "/new")
""",
    "plant_symlink": """
import os
def attack(facts):
    os.symlink(facts["victim"], facts["directory"] + "/link")
""",
    "plant_hard_link": """
import os
def attack(facts):
    os.link(facts["victim"], facts["directory"] + "/link")
""",
    "plant_pipe": """
import os
def attack(facts):
    os.mkfifo(facts["directory"] + "/pipe")
""",
    "plant_device": """
import os, stat
def attack(facts):
    os.mknod(facts["directory"] + "/disk", 0o666 | stat.S_IFBLK, os.makedev(8, 0))
""",
    "rename": """
import os
def attack(facts):
    os.rename(facts["victim"], facts["victim"] + ".old")
""",
    "remove": """
import os, shutil
def attack(facts):
    try:
        os.unlink(facts["victim"])
    except OSError:
        shutil.rmtree(facts["directory"])
""",
    "truncate": """
import os
def attack(facts):
    os.truncate(facts["victim"], 0)
""",
    "change_mode_and_owner": """
import os
def attack(facts):
    for change in (
        lambda: os.chmod(facts["victim"], 0o777),
        lambda: os.chown(facts["victim"], 1, 1),
        lambda: os.utime(facts["victim"], (0, 0)),
        lambda: os.setxattr(facts["victim"], "user.x", b"x"),
    ):
        try:
            change()
        except OSError:
            pass
""",
    "fill_the_disk": """
import os
def attack(facts):
    for place in (facts["directory"], "/tmp", "/dev/shm", "/var/tmp", "."):
        try:
            handle = os.open(place + "/agent_rft_escape", os.O_CREAT | os.O_WRONLY)
            os.posix_fallocate(handle, 0, 1 << 20)
        except OSError:
            pass
""",
    "temporary_file": """
import tempfile
def attack(facts):
    tempfile.tempdir = facts["directory"]
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"x")
""",
    "pickle": """
import os, pickle
class Bomb:
    def __reduce__(self):
        return (os.system, ("touch " + PLACE + "/new",))
def attack(facts):
    global PLACE
    PLACE = facts["directory"]
    pickle.loads(pickle.dumps(Bomb()))
""",
    "raw_calls_for_files": """
import ctypes
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    path = (facts["directory"] + "/new").encode()
    how = (ctypes.c_uint64 * 3)(0o101, 0o666, 0)
    found = [
        libc.open(path, 0o101, 0o666),
        libc.creat(path, 0o666),
        libc.syscall(437, -100, path, how, 24),
        libc.syscall(304, -100, path, 0o101),
        libc.syscall(425, 8, (ctypes.c_uint32 * 40)()),
    ]
    return [libc.read(handle, ctypes.create_string_buffer(99), 99) for handle in found]
""",
    "mount_and_chroot": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    libc.mount(facts["directory"].encode(), b"/tmp", None, 4096, None)
    for act in (lambda: os.chroot("/proc/1/root"), lambda: os.chdir("/proc/1/cwd")):
        try:
            act()
        except OSError:
            pass
    return open(facts["victim"]).read()
""",
    "read_secret": """
def attack(facts):
    return open(facts["victim"]).read()
""",
    "read_users": """
def attack(facts):
    return open("/etc/passwd").read() + open("/etc/shadow").read()
""",
    "list_directory": """
import os
def attack(facts):
    return os.listdir(facts["directory"])
""",
    "own_environment": """
import ctypes, os
def attack(facts):
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    raw = []
    while environ and environ[len(raw)]:
        raw.append(environ[len(raw)].decode())
    return [dict(os.environ), raw]
""",
    "environments_of_others": """
import os
def attack(facts):
    found = []
    for pid in ["self", "1", os.getppid(), *facts["pids"]]:
        for name in ("environ", "cmdline", "maps", "root" + facts["victim"]):
            try:
                found.append(open(f"/proc/{pid}/{name}", errors="replace").read())
            except OSError as error:
                found.append(str(error.errno))
    return found
""",
    "memory_of_others": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in [os.getppid(), *facts["pids"]]:
        try:
            with open(f"/proc/{pid}/mem", "r+b") as memory:
                memory.write(b"x")
        except OSError:
            pass
        libc.ptrace(16, pid, None, None)
        libc.ptrace(0x4206, pid, None, None)
        buffer = ctypes.create_string_buffer(64)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
        libc.process_vm_readv(pid, vector, 1, vector, 1, 0)
""",
    "descriptors_of_others": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    taken = []
    for pid in [os.getppid(), *facts["pids"]]:
        handle = libc.syscall(434, pid, 0)
        taken += [libc.syscall(438, handle, number, 0) for number in range(10)]
    return [os.read(handle, 100).decode() for handle in taken if handle >= 0]
""",
    "objects_of_other_programs": """
import gc, sys
def attack(facts):
    found, seen = [], list(gc.get_objects())
    frame = sys._getframe()
    while frame is not None:
        seen += [frame.f_locals, frame.f_globals, frame.f_builtins]
        frame = frame.f_back
    for one in seen:
        try:
            text = repr(one)[:100000]
        except BaseException:
            continue
        at = text.find("-".join(["canary", "of", "another", "program"]))
        if at != -1:
            found.append(text[at : at + 60])
    return found
""",
    "memory_file": """
import os
def attack(facts):
    handle = os.memfd_create("x")
    os.write(handle, b"#!/bin/sh\\ntouch " + facts["directory"].encode() + b"/new\\n")
    os.execve(f"/proc/self/fd/{handle}", ["x"], {})
""",
    "shared_memory": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.shmget(0x61676E74, 4096, 0o1666)
    if made >= 0:
        libc.shmat.restype = ctypes.c_void_p
        at = libc.shmat(made, None, 0)
        left = ctypes.string_at(at, 30).decode(errors="replace")
        ctypes.memmove(at, b"canary-of-another-program", 25)
        return left
""",
    "message_queue": """
import ctypes
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.msgget(0x61676E74, 0o1666)
    buffer = ctypes.create_string_buffer(64)
    if made >= 0 and libc.msgrcv(made, buffer, 48, 0, 0o4000) > 0:
        return buffer.raw.decode(errors="replace")
    buffer.raw = b"\\x01" + bytes(7) + b"canary-of-another-program" + bytes(31)
    libc.msgsnd(made, buffer, 48, 0o4000)
""",
}
