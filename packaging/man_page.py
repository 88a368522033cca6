"""Makes a manual page of a command's help: man_page.py OUTPUT VERSION PROGRAM [SUBCOMMAND]

What the help says before "Usage:" is the name's summary. "Word: text" begins a section. Two spaces
begin an item, whose text stands behind more spaces and in deeper lines. All else is text."""

import os
import re
import subprocess
import sys


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def page(help_text, name, version):
    summary, usage, rest = help_text.partition("Usage:")
    yield f'.TH {escaped(name).upper()} 1 "" "overlapack {version}" "User Commands"'
    yield ".SH NAME"
    yield f"{escaped(name)} \\- {escaped(' '.join(summary.split()).rstrip('.'))}"
    for line in (usage + rest).splitlines():
        section = re.match(r"([A-Z][A-Za-z ]*):(?: (.*))?$", line)
        item = re.match(r"  (\S+(?: \S+)*)(?:  +(\S.*))?$", line)
        if section:
            yield ".SH " + ("SYNOPSIS" if section[1] == "Usage" else section[1].upper())
            yield escaped(section[2] or "")
        elif item:
            yield ".TP"
            yield ".B " + escaped(item[1])
            yield escaped(item[2] or "")
        elif not line:
            yield ".PP"
        else:
            yield escaped(line.strip())


def main():
    output, version, *command = sys.argv[1:]
    help_text = subprocess.run(command + ["--help"], check=True, capture_output=True, text=True,
                               env=dict(os.environ, COLUMNS="80")).stdout
    name = "-".join([os.path.basename(command[0])] + command[1:])
    with open(output, "w") as file:
        file.write("\n".join(line for line in page(help_text, name, version) if line) + "\n")


if __name__ == "__main__":
    main()
