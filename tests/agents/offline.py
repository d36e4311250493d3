"""Runs a command where only loopback is up: `python offline.py COMMAND`, in a network namespace.

Exit code 75 where the kernel does not permit it.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1
NOT_PERMITTED = 75


def cut_off() -> None:
    """Leave the network; raises `OSError` where that is not permitted."""
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


if __name__ == "__main__":
    try:
        cut_off()
    except OSError as error:
        print(f"cannot leave the network here: {error}", file=sys.stderr)
        sys.exit(NOT_PERMITTED)
    os.execvp(sys.argv[1], sys.argv[1:])
