"""What the checks of the benchmark's outputs share."""
import math
import os
import pathlib
import subprocess
import tempfile


def brief(value):
    """A number as tables show it."""
    if 0 < value < 0.01:
        return f"{value:.{1 - math.floor(math.log10(value))}f}"
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def tables(output):
    """The tables of an output in Markdown, each as its titles and its rows of cells."""
    found = []
    for block in output.split("\n\n"):
        lines = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in block.splitlines() if line.startswith("|")]
        if lines:
            found.append((lines[0], lines[2:]))  # between them a line of dashes
    return found


class Run:
    """Runs the benchmark in a directory of its own, by default on the emulated device."""

    def __init__(self, bench, *options, device="host", **settings):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        done = subprocess.run([bench, "--device", device, *options], cwd=self.folder,
                              capture_output=True, text=True, env=dict(os.environ, **settings))
        self.output = done.stdout
        assert done.returncode == 0, f"exit status {done.returncode}:\n{done.stdout}{done.stderr}"

    def text(self, name):
        return (self.folder / name).read_text()
