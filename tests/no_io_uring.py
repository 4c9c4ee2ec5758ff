# SPDX-License-Identifier: GPL-3.0-or-later
"""no_io_uring.py COMMAND...: runs it where the kernel refuses io_uring, as many
containers and hardened systems do: a seccomp filter answers EPERM."""
import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IO_URING_SETUP, EPERM = 425, 1  # the number is the same on every machine
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

program = b"".join(
    struct.pack("HBBI", *step) for step in (
        (LOAD, 0, 0, 0),  # the number of the system call
        (EQUAL, 0, 1, IO_URING_SETUP),
        (RETURN, 0, 0, ERRNO | EPERM),
        (RETURN, 0, 0, ALLOW)))
steps = ctypes.create_string_buffer(program, len(program))
description = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, description, 0, 0):
    sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
