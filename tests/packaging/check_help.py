"""What is made of the command's help: manual pages that groff reads without a warning and that have
each option, and words that bash completes. check_help.py PACKAGING_FOLDER COMMAND"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
import harness

COMPLETE = """
. "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$(($# - 2))
_overlapack "$2"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(script, *words):
    """What is offered for the last word."""
    status, output, errors = harness.run(["bash", "-c", COMPLETE, "bash", script, *words], None)
    if errors:
        harness.fail(f"completing {words} says {errors}")
    return output.split()


def found_in_help(command, pattern):
    text = subprocess.run(command + ["--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(pattern, text, re.MULTILINE))


def options_of(command):
    return found_in_help(command, r"^ +(?:-\w,)?(--[\w-]+)")


def sections_of(command):
    return {name.upper() for name in found_in_help(command, r"^([A-Z][a-z ]*):")} - {"USAGE"}


def check_page(script, command, page):
    subprocess.run([sys.executable, script, page, "1.2.3", *command], check=True)
    status, output, errors = harness.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", page], None)
    if status != 0 or errors:
        harness.fail(f"groff: {errors}")
    text = output.replace("\u2010", "-").replace("\u2212", "-")
    parts = {"NAME", "SYNOPSIS", "1.2.3"} | options_of(command) | sections_of(command)
    missing = [part for part in parts if part not in text]
    if missing:
        harness.fail(f"the page of {command} lacks {missing}:\n{text}")


def main():
    folder, command = sys.argv[1:]
    subcommands = [[command, name] for name in ("run", "info", "tune")]
    script = os.path.join(folder, "overlapack.bash")
    offered = completed(script, command, "")
    if not {"run", "info", "tune", "bench", "--help"} <= set(offered):
        harness.fail(f"{offered} are offered for the first word")
    if completed(script, command, "tu") != ["tune"]:
        harness.fail("'tu' is not completed")
    for words in subcommands:
        offered = set(completed(script, *words, "-"))
        if not options_of(words) <= offered:
            harness.fail(f"{offered} are offered for {words}")
    if "cat" not in completed(script, command, "run", "--", "ca"):
        harness.fail("a program to run is not offered")
    if completed(script, command, "run", "--", "cat", "--"):
        harness.fail("our options are offered for another program")

    if not shutil.which("groff"):
        harness.skip("completion is right; for manual pages there is no groff")
    with tempfile.TemporaryDirectory() as scratch:
        for words in [[command], *subcommands]:
            check_page(os.path.join(folder, "man_page.py"), words, os.path.join(scratch, "page.1"))


if __name__ == "__main__":
    main()
