"""Attacks by processes, time, memory and the channel of the result."""

from typing import Final

PROCESSES: Final = {
    "daemon": """
import os, time
def attack(facts):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
""",
    "fork_bomb": """
import os
def attack(facts):
    while True:
        try:
            os.fork()
        except OSError:
            pass
""",
    "threads": """
import threading, time
def attack(facts):
    for _ in range(10000):
        threading.Thread(target=time.sleep, args=(3600,)).start()
""",
    "subprocess": """
import subprocess
def attack(facts):
    return subprocess.run(["/bin/sh", "-c", "sleep 3600 & id"], capture_output=True).stdout.decode()
""",
    "execute": """
import os
def attack(facts):
    os.execve("/bin/sleep", ["sleep", "3600"], {})
""",
    "system": """
import os
def attack(facts):
    os.system("touch " + facts["directory"] + "/new; sleep 3600 &")
    os.posix_spawn("/bin/sleep", ["sleep", "3600"], {})
""",
    "raw_clone": """
import ctypes, os, time
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_uint64 * 8)(0, 0, 0, 0, 17, 0, 0, 0)
    made = [libc.syscall(56, 0x10000011, 0, 0, 0, 0), libc.syscall(57)]
    made.append(libc.syscall(435, arguments, 64))
    if 0 in made:
        time.sleep(3600)
    return made
""",
    "kill_all": """
import os
def attack(facts):
    os.kill(-1, 9)
""",
    "kill_by_number": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None)
    for pid in [os.getppid(), *facts["pids"]]:
        for act in (lambda: os.kill(pid, 9), lambda: os.killpg(pid, 9)):
            try:
                act()
            except OSError:
                pass
        if pid:
            libc.syscall(200, pid, 9)
            libc.syscall(424, libc.syscall(434, pid, 0), 9, None, 0)
""",
    "outlive_the_parent": """
import ctypes, signal, time
def attack(facts):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    time.sleep(3600)
""",
    "at_exit": """
import atexit, os, threading, time
def attack(facts):
    atexit.register(lambda: time.sleep(3600))
    threading._register_atexit(lambda: time.sleep(3600))
    return 1
""",
    "leave_a_finalizer": """
import time
class Late:
    def __del__(self):
        time.sleep(3600)
late = Late()
late.me = late
def attack(facts):
    return 1
""",
    "catch_everything": """
import time
def attack(facts):
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            continue
""",
    "endless_generator": """
def attack(facts):
    return sum(1 for _ in iter(int, 1))
""",
    "endless_regex": """
import re
def attack(facts):
    return bool(re.fullmatch("(a+)+", "a" * 60 + "b"))
""",
    "huge_number": """
def attack(facts):
    return len(str(10 ** 10 ** 8 % 7)) + 9 ** 9 ** 9
""",
    "huge_width": """
def attack(facts):
    return f"{1:{1 << 33}}"
""",
    "memory_in_a_list": """
def attack(facts):
    held = []
    while True:
        held.append(bytearray(1 << 20))
""",
    "memory_at_once": """
def attack(facts):
    return len(bytearray(1 << 34))
""",
    "memory_by_mapping": """
import mmap
def attack(facts):
    held = []
    while True:
        held.append(mmap.mmap(-1, 1 << 24))
        held[-1].write(b"x" * (1 << 24))
""",
    "deep_recursion": """
import sys
sys.setrecursionlimit(1 << 30)
def attack(facts):
    return [attack(facts)]
""",
    "deep_source": """
def attack(facts):
    compile("(" * 150 + ")" * 150, "", "exec")
    eval("-" * 1000000 + "1")
""",
    "print_much": """
import os
def attack(facts):
    for handle in (1, 2):
        try:
            os.write(handle, b"x" * (1 << 22))
        except OSError:
            pass
    while True:
        print("x" * (1 << 20))
""",
    "reply_much": """
def attack(facts):
    return "x" * (1 << 23)
""",
    "flood_the_channel": """
import os
def attack(facts):
    while True:
        os.write(3, b"x" * 65536)
""",
    "reply_deep": """
import os
def attack(facts):
    os.write(3, b"[" * 500000)
    os._exit(0)
""",
    "reply_twice": """
import os
def attack(facts):
    os.write(3, b'{"value": 1}')
    return 1
""",
    "reply_no_json": """
import os
def attack(facts):
    os.write(3, b"\\xff\\x00\\xed\\xa0\\x80 NaN {")
    os._exit(0)
""",
    "reply_a_failure": """
import os
def attack(facts):
    os.write(3, b'{"failure": "the sandbox does not answer"}')
    os._exit(1)
""",
    "break_the_reply": """
import json, os
def attack(facts):
    json.dumps = None
    os.write = None
    return 1
""",
    "close_the_channel": """
import os, time
def attack(facts):
    os.closerange(0, 4096)
    time.sleep(3600)
""",
    "read_the_channel": """
import os
def attack(facts):
    return os.read(3, 65536).decode()
""",
    "hostile_values": """
class Score(float):
    def __float__(self):
        raise KeyboardInterrupt
    def __repr__(self):
        raise SystemExit
def attack(facts):
    raise type("E", (BaseException,), {"__str__": lambda self: 1 / 0})(Score(1))
""",
    "crash": """
import ctypes
def attack(facts):
    return ctypes.string_at(0)
""",
    "raise_signals": """
import os, signal
def attack(facts):
    signal.raise_signal(signal.SIGKILL)
    os.abort()
""",
    "leave_with_the_sandboxs_code": """
import os
def attack(facts):
    os._exit(1)
""",
}
