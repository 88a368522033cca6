"""What the checks of the benchmark's outputs share."""
import math
import os
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


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
    """Runs the benchmark on the emulated device in a directory of its own."""

    def __init__(self, bench, *options, **settings):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        done = subprocess.run([bench, "--device", "host", *options], cwd=self.folder,
                              capture_output=True, text=True, env=dict(os.environ, **settings))
        self.output = done.stdout
        assert done.returncode == 0, f"exit status {done.returncode}:\n{done.stdout}{done.stderr}"

    def text(self, name):
        return (self.folder / name).read_text()

    def svg(self, name):
        """The root of a picture that is well-formed, with every shape inside it."""
        root = ET.fromstring(self.text(name))
        assert root.tag == SVG + "svg", root.tag
        width, height = float(root.get("width")), float(root.get("height"))
        for box in root.iter(SVG + "rect"):
            left, top = float(box.get("x")), float(box.get("y"))
            assert 0 <= left and left + float(box.get("width")) <= width + 0.5, box.attrib
            assert 0 <= top and top + float(box.get("height")) <= height + 0.5, box.attrib
        for shape in root.iter(SVG + "text"):
            assert 0 <= float(shape.get("x")) <= width, (shape.attrib, shape.text)
            assert 0 <= float(shape.get("y")) <= height, (shape.attrib, shape.text)
        return root
