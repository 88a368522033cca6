"""Leaves while daemon threads, which Python does not wait for, solve systems on the device.

    exit_client.py ORDER MILLISECONDS
"""

import ctypes
import sys
import threading
import time

try:
    import numpy
except ImportError:
    print("this Python has no NumPy")
    sys.exit(77)

# Registered first, this handler at exit runs last: it gives the threads time to come to harm.
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.usleep, ctypes.c_void_p(100000), None)

order, milliseconds = int(sys.argv[1]), int(sys.argv[2])
matrix = numpy.random.default_rng(1).random((order, order)) + order * numpy.eye(order)
solved = threading.Semaphore(0)


def go_on_solving():
    while True:
        numpy.linalg.solve(matrix, matrix[0])
        solved.release()


for _ in range(2):
    threading.Thread(target=go_on_solving, daemon=True).start()
for _ in range(2):
    solved.acquire()
time.sleep(milliseconds / 1000)
sys.exit(3)
