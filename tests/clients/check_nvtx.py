"""The ranges that a profiler gets, by a tool of ours (nvtx_tool.c): check_nvtx.py LIB TOOL PROGRAM

PROGRAM is linked with the library and makes calls in one thread.
"""

import os
import re
import sys

import harness


def run(library, tool, program, device="host", **settings):
    """The events, as (thread, what, text), and the calls of the log."""
    log = harness.temporary_log()
    told = log + ".told"
    env = harness.environment(device, None if "OVERLAPACK_VERBOSE" in settings else log,
                              NVTX_INJECTION64_PATH=tool, NVTX_TOOL_LOG=told, **settings)
    status, output, errors = harness.run([program], env)
    if status != 0 or errors:
        harness.fail(f"status {status}\n{output}{errors}")
    events = []
    if os.path.exists(told):
        with open(told) as file:
            events = [re.fullmatch(r"(\d+) (\w+) ?(.*)\n", line).groups() for line in file]
    return events, harness.read_log(log)


def ranges(events):
    """(depth, text) of each range, in the order of their beginnings. All must have ended."""
    found, open_ranges = [], {}
    for thread, what, text in events:
        if what == "push":
            found.append((open_ranges.setdefault(thread, 0), text))
            open_ranges[thread] += 1
        elif what == "pop":
            open_ranges[thread] -= 1
            if text or open_ranges[thread] < 0:
                harness.fail(f"a range ends that has not begun: {events}")
    if any(open_ranges.values()):
        harness.fail(f"ranges do not end: {events}")
    return found


def expected(calls):
    return [(0, f"{call.routine} " + " ".join(f"{key}={call.fields[key]}" for key in
                                             ("m", "n", "nrhs", "where"))) for call in calls]


def main():
    library, tool, program = sys.argv[1:]
    if harness.runtimes(library):
        harness.skip("the library is built with a sanitizer, which the tool is not")
    for device, where in ("host", "host"), ("off", "cpu"):
        events, calls = run(library, tool, program, device)
        domains = [text for _, what, text in events if what == "domain"]
        if domains != ["overlapack"]:
            harness.fail(f"domains: {domains}")
        wanted = expected(calls)
        if not wanted or ranges(events) != wanted:
            harness.fail(f"{ranges(events)} in place of {wanted}")
        if not all(text.endswith(f" where={where}") for _, text in wanted):
            harness.fail(f"the calls went elsewhere: {wanted}")
    # Small calls, which without a log or a profiler are over before anything is asked.
    found = ranges(run(library, tool, program, OVERLAPACK_VERBOSE="0", OVERLAPACK_MIN_N="1000")[0])
    if found != wanted:
        harness.fail(f"small calls are {found}")

    found = ranges(run(library, tool, program, OVERLAPACK_NVTX="blocks")[0])
    if [r for r in found if "where=" in r[1]] != expected(run(library, tool, program)[1]):
        harness.fail(f"with blocks there are other calls: {found}")
    for block in "panel", "update", "upload":
        if not any(re.fullmatch(rf"{block} \d+", text) for _, text in found):
            harness.fail(f"there is no range of {block}: {found}")
    if (1, "panel 0") not in found:
        harness.fail(f"the first panel does not lie in its call: {found}")

    if run(library, "/nonexistent.so", program)[0]:
        harness.fail("a tool that is not there was told something")
    print(f"{len(wanted)} ranges of calls; {len(found)} with blocks")


if __name__ == "__main__":
    main()
