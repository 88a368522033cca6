"""A terminal for tests of programs that draw on one."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading


def run_on_terminal(command, columns, streams=("stderr",), **options):
    """Runs a command with some of its streams on a terminal; returns the exit status and what the
    terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    got = []

    def read():
        try:
            while data := os.read(ours, 4096):
                got.append(data)
        except OSError:  # nobody has the other end any more
            pass

    reader = threading.Thread(target=read)
    reader.start()
    others = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    done = subprocess.run(command, **dict(others, **{stream: theirs for stream in streams}),
                          **options)
    os.close(theirs)
    reader.join()
    os.close(ours)
    return done.returncode, b"".join(got).decode().replace("\r\n", "\n")


def check_bar(text, columns):
    """All that is drawn is one line, which begins anew each time and is taken away at the end."""
    drawn = text.split("\r\x1b[K")
    assert len(drawn) > 2 and drawn[-1] == "", drawn
    for line in drawn[1:-1]:
        assert (line == "" or line.startswith("[")) and "\n" not in line, drawn
        assert len(line) < columns, drawn
    assert any(" 0 %" in line for line in drawn), drawn
    return drawn[0]
