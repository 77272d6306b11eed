"""Attacks on the network and on rights. `facts` has the addresses of real listeners."""

from typing import Final

NETWORK: Final = {
    "tcp": """
import socket
def attack(facts):
    socket.create_connection(("127.0.0.1", facts["tcp"]), 1).sendall(b"hit")
""",
    "tcp_v6": """
import socket
def attack(facts):
    socket.create_connection(("::1", facts["tcp"]), 1).sendall(b"hit")
""",
    "udp": """
import socket
def attack(facts):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hit", ("127.0.0.1", facts["udp"]))
""",
    "unix_path": """
import socket
def attack(facts):
    socket.socket(socket.AF_UNIX).connect(facts["unix"])
""",
    "unix_abstract": """
import socket
def attack(facts):
    socket.socket(socket.AF_UNIX).connect("\\0" + facts["abstract"])
""",
    "every_family": """
import socket
def attack(facts):
    opened = []
    for family in range(50):
        for kind in (1, 2, 3, 5):
            try:
                one = socket.socket(family, kind)
                one.setblocking(False)
                opened.append(family)
                one.connect(("127.0.0.1", facts["tcp"]))
                one.send(b"hit")
            except (OSError, TypeError):
                pass
    return opened
""",
    "serve": """
import socket
def attack(facts):
    server = socket.create_server(("127.0.0.1", 0))
    server.accept()
""",
    "resolve": """
import socket
def attack(facts):
    return socket.getaddrinfo("localhost", facts["tcp"])
""",
    "url": """
import importlib
def attack(facts):
    request = importlib.import_module("urllib.request")
    return request.urlopen(f"http://127.0.0.1:{facts['tcp']}/", timeout=1).read().decode()
""",
    "raw_calls_for_sockets": """
import ctypes, struct
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    address = struct.pack("<H", 2) + struct.pack(">H4s8x", facts["tcp"], b"\\x7f\\0\\0\\1")
    for handle in (libc.socket(2, 1, 0), libc.syscall(41, 2, 1, 0)):
        libc.connect(handle, address, 16)
        libc.send(handle, b"hit", 3, 0)
""",
    "sockets_of_others": """
import os, socket
def attack(facts):
    for handle in range(64):
        try:
            one = socket.socket(fileno=os.dup(handle))
            one.sendto(b"hit", ("127.0.0.1", facts["udp"]))
        except OSError:
            pass
""",
    "become_root": """
import ctypes, os
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
    libc.capset(header, rights)
    libc.setresuid(0, 0, 0)
    libc.unshare(0x10000000)
    libc.setns(3, 0)
    libc.personality(0x0400000)
    libc.prctl(38, 0, 0, 0, 0)
    libc.prctl(4, 1, 0, 0, 0)
    with open(facts["victim"], "w") as file:
        file.write("changed")
""",
    "kernel_interfaces": """
import ctypes
def attack(facts):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(256)
    numbers = {"io_uring": 425, "bpf": 321, "userfaultfd": 323, "perf": 298, "keyctl": 250,
               "add_key": 248, "kexec": 246, "module": 175, "swap": 167, "reboot": 169,
               "handle": 304, "fanotify": 300, "inotify": 253, "timer": 222, "quota": 179}
    return {name: libc.syscall(number, 1, buffer, 0, 0, 0) for name, number in numbers.items()}
""",
    "native_code": """
import ctypes, mmap
def attack(facts):
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex("b827000000" "0f05" "c3"))
    run = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return run()
""",
    "raise_limits": """
import resource
def attack(facts):
    for kind in range(16):
        try:
            resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):
            pass
    bytearray(1 << 30)
    return "canary-of-memory"
""",
}
