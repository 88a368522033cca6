"""scripts/check-text finds each kind of fault and nothing else: check_check_text.py SCRIPT"""
import pathlib
import subprocess
import sys
import tempfile

LONG = "x" * 101

# A page without a fault: links, anchors, named paths and long addresses of all kinds.
GOOD = """# A page

## What it takes, `n` = 8

## What it takes, `n` = 8

See [the page](docs/page.md), [a heading](docs/page.md#two-words), [here](#what-it-takes-n--8-1), a
[link over two
lines](<docs/page.md>), [a folder](docs "title"), [elsewhere](https://example.org/x#y) and [named].
Also `src/core`, `src/core/`, `docs/page.md:3`, `src/core/a.{hpp,cpp}`, `src/<family>/a.hpp`,
`src/*/a.cpp`, ``scripts/tool --option X``, `other/path`, `include`, `a [b](c)` and `tests/...`.

https://example.org/%s

[named]: docs/page.md

```
[no link](nowhere.md) and `src/nothing`
```
""" % LONG

# Comments that name what there is, from each place, and what is no name of a file.
COMMENTS = """#include "core/gone.hpp"
// src/core/a.hpp, core/a.cpp, a.cpp (names.hpp); docs/page.md, "Two words": `core/a.hpp`.
/// https://example.org/gone.py, core/*.cpp, <name>.cpp, a.{hpp,cpp}, x.cpp_y, page.md.
const char* name = "core/gone.cpp";
"""

FAULTS = {
    "page.md": ("one\n" + LONG + "\n", "page.md:2: 101 columns, at most 100 are allowed"),
    "table.md": ("| a |\n|---|\n| " + LONG + " |\n", "table.md:3: 105 columns, "),
    "block.md": ("```\n" + LONG + "\n```\n", "block.md:2: 101 columns, "),
    "bench/log/2026-01-02-a.md": (LONG + "\n", "bench/log/2026-01-02-a.md:1: 101 columns, "),
    "link.md": ("a\n\n[b\nc](gone.md)\n", "link.md:4: the link gone.md leads to nothing"),
    "image.md": ("![a](gone.svg)\n", "image.md:1: the link gone.svg leads to nothing"),
    "outside.md": ("[a](../gone)\n", "outside.md:1: the link ../gone leads to nothing"),
    "reference.md": ("[a]: gone.md\n", "reference.md:1: the link gone.md leads to nothing"),
    "docs/anchor.md": ("[a](page.md#three)\n",
                       "docs/anchor.md:1: the link page.md#three names no heading of docs/page.md"),
    "same.md": ("# A\n[a](#b)\n", "same.md:2: the link #b names no heading of same.md"),
    "named.md": ("a\nb `src/gone.cpp` c\n", "named.md:2: src/gone.cpp does not exist"),
    "line.md": ("`src/gone.cpp:12`\n", "line.md:1: src/gone.cpp does not exist"),
    "braces.md": ("`src/core/a.{hpp,cu}`\n", "braces.md:1: src/core/a.{hpp,cu} does not exist"),
    "star.md": ("`src/*/b.cpp`\n", "star.md:1: src/*/b.cpp does not exist"),
    "word.md": ("`scripts/gone --all`\n", "word.md:1: scripts/gone does not exist"),
    "src/core/comment.cpp": ("// As core/gone.cpp says.\n",
                             "src/core/comment.cpp:1: the comment names core/gone.cpp, which does"),
    "src/core/bare.hpp": ("int x;  // see gone.hpp: x\n",
                          "src/core/bare.hpp:1: the comment names gone.hpp, which does not exist"),
    "tests/comment.py": ("# (docs/gone.md)\n",
                         "tests/comment.py:1: the comment names docs/gone.md, which does not"),
    "tests/tool.supp": ("# by core/gone.cpp\n",
                        "tests/tool.supp:1: the comment names core/gone.cpp, which does not exist"),
    "src/core/section.cu": ('/// docs/page.md, "Three words".\n',
                            "src/core/section.cu:1: the comment names no heading of docs/page.md"),
    "src/CMakeLists.txt": ("# " + LONG, "src/CMakeLists.txt:1: 103 columns, "),
    "scripts/other": ("#!/bin/sh\n# " + LONG, "scripts/other:2: 103 columns, "),
}
for ending in ("cpp", "hpp", "cu", "cuh", "h", "def", "py", "sh"):
    FAULTS["src/long." + ending] = ("\n// " + LONG, f"src/long.{ending}:2: 104 columns, ")

# A long line in other files, and what an entry of the log names, are no faults.
NO_FAULTS = {
    "docs/page.md": "# Page\n\n## Two words\n",
    "src/core/a.hpp": "",
    "src/core/a.cpp": "// https://example.org/" + LONG + "\n",
    "src/core/names.hpp": COMMENTS,
    "scripts/tool": "#!/bin/sh\n# src/core/a.hpp and FOLDER/x.cpp\necho '# core/gone.cpp'\n",
    "data.csv": LONG,
    "build/CMakeCache.txt": "",
    "build/copy.md": LONG,
    "bench/log/2026-01-01-a.md": "`src/gone.cpp` is named in the log.\n",
}

SENTENCES = """# A heading of many words that is no sentence and stays out of the list

A short one. This one
has all of eight words, `and a piece`. Six words, e.g. [as here](docs/page.md), count.

| a table of many words is not a sentence, either, whatever it holds |
- An item has four.
"""


def main():
    script = sys.argv[1]

    with tempfile.TemporaryDirectory() as folder:
        def put(name, text):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return path

        def check(*arguments):
            return subprocess.run([sys.executable, script, "--root", folder, *arguments],
                                  capture_output=True, text=True, timeout=30)

        for name, text in NO_FAULTS.items():
            put(name, text)
        put("good.md", GOOD)
        done = check()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done

        # One finding for each fault, and none beside them.
        paths = [put(name, text) for name, (text, finding) in FAULTS.items()]
        done = check()
        assert done.returncode == 1 and done.stderr == "", done
        expected = sorted(finding for text, finding in FAULTS.values())
        lines = sorted(done.stdout.splitlines())
        assert len(lines) == len(expected), lines
        for line, finding in zip(lines, expected):
            assert line.startswith(finding), (line, finding)
        assert check("good.md").returncode == 0
        done = check("good.md", "link.md")
        assert done.returncode == 1 and len(done.stdout.splitlines()) == 1, done
        for path in paths:
            path.unlink()

        put("sentences.md", SENTENCES)
        put("bench/log/2026-01-01-a.md", "An entry " + "with many words " * 9 + "is not listed.\n")
        done = check("--longest", "3", "sentences.md")
        assert done.returncode == 0 and done.stderr == "", done
        assert done.stdout.splitlines() == [
            "sentences.md:3: 8 words: This one has all of eight words, `and_a_piece`.",
            "sentences.md:4: 6 words: Six words, e.g. [as here], count.",
            "sentences.md:7: 4 words: An item has four."], done.stdout
        assert len(check("--longest", "1").stdout.splitlines()) == 1
        assert "2026-01-01" not in check("--longest").stdout

        done = check("gone.md")
        assert done.returncode == 2 and "there is no file gone.md" in done.stderr, done
        done = check("--help")
        assert done.returncode == 0 and "Usage: scripts/check-text" in done.stdout, done


main()
