"""Pictures of results, small ones of the emulated device: check_plot.py BENCH SCRIPT"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as ET

try:
    import matplotlib.text
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])  # Debian's packages are its
    print("skipped: there is no matplotlib")
    sys.exit(77)

from outputs import Run

BENCH, SCRIPT = sys.argv[1:]
SVG = "{http://www.w3.org/2000/svg}"
RESULTS = pathlib.Path(SCRIPT).parent.parent / "bench" / "results"

sys.dont_write_bytecode = True  # in the folder of the scripts
loader = importlib.machinery.SourceFileLoader("plot", SCRIPT)
plot = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
loader.exec_module(plot)


def points_of(line):
    return list(zip(map(float, line.get_xdata()), map(float, line.get_ydata())))


def curves(axes):
    """The points of each curve that is drawn, by its name and whether it is dashed."""
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    for line in axes.lines:
        assert colours[line.get_label()] == line.get_color(), "each has its name at its side"
    return {(line.get_label(), line.get_linestyle() == "--"): points_of(line)
            for line in axes.lines}


def not_drawn(axis):
    """Labels of ticks beyond the end of an axis."""
    low, high = sorted(axis.get_view_interval())
    return [label for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high
            for label in (tick.label1, tick.label2)]


def check_texts(figure, *words):
    """The picture has these texts, and all that it has are within it and none upon another."""
    figure.canvas.draw()
    hidden = [label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)
              for label in not_drawn(axis)]
    boxes = [(text.get_text(), matplotlib.text.Text.get_window_extent(text))
             for text in figure.findobj(matplotlib.text.Text)
             if text.get_text().strip() and text.get_visible() and text not in hidden]
    for i, (text, box) in enumerate(boxes):
        assert 0 <= box.x0 and box.x1 <= figure.bbox.x1, (text, box, figure.bbox)
        assert 0 <= box.y0 and box.y1 <= figure.bbox.y1, (text, box, figure.bbox)
        for other, other_box in boxes[:i]:
            assert not box.overlaps(other_box), (text, other)
    texts = [text for text, _ in boxes]
    for word in words:
        assert word in texts, (word, texts)
    return texts


def near(drawn, expected):
    return sorted(drawn) == sorted((float(x), float(y)) for x, y in expected)


def check_comparison():
    run = Run(BENCH, "--routines", "dposv,zgetrf", "--uplo", "U", "--sizes", "32,100,64", "--reps",
              "1", "--no-peers", "--json", "c.json", "--csv", "c.csv")
    rows = json.loads(run.text("c.json"))["rows"]
    figure = plot.draw(str(run.folder / "c.json"))
    assert [axes.get_title() for axes in figure.axes] == ["dposv U", "zgetrf"]
    for axes, routine in zip(figure.axes, ("dposv", "zgetrf")):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        here = [row for row in rows if row["routine"] == routine]
        expected = {key: [(row["n"], row["contenders"][name]["ms"]) for row in here
                          if "ms" in row["contenders"][name]]
                    for key, name in ((("overlapack", False), "ours"), (("CPU", False), "CPU"),
                                      (("on device", True), "on device"))}
        drawn = curves(axes)
        assert len(drawn["on device", True]) == 2, "not below 4096 elements"
        assert drawn.keys() == expected.keys(), drawn
        assert all(near(drawn[key], expected[key]) for key in drawn), (drawn, expected)
    texts = check_texts(figure, "overlapack", "CPU", "order n", "milliseconds", "32",
                        "64", "100")
    assert "cuSOLVER" not in texts, "what was not measured is not drawn"
    assert any("EMULATED" in text for text in texts), "an emulated device must say so"

    other = plot.draw(str(run.folder / "c.csv"), ["zgetrf"], "A machine")
    assert curves(other.axes[0]) == curves(figure.axes[1]), "CSV says the same as JSON"
    assert len(other.axes) == 1 and "A machine" in check_texts(other)


def check_variants():
    run = Run(BENCH, "--variants", "--sizes", "40,72", "--block-sizes", "16,24", "--reps", "1",
              "--no-peers", "--lu", "unblocked,crout", "--json", "v.json")
    rows = json.loads(run.text("v.json"))["rows"]
    figure = plot.draw(str(run.folder / "v.json"))
    by_order, _, by_size, _ = figure.axes
    for axes, title, forms in zip(
            figure.axes, ("dgetrf, device panel, best block size",
                          "dgetrf, hybrid panel, best block size", "dgetrf 72, device panel",
                          "dgetrf 72, hybrid panel"), (4, 2, 2, 2)):
        assert axes.get_title() == title, axes.get_title()
        drawn = curves(axes)
        assert ("library", False) in drawn and len(drawn) == forms + 1, drawn.keys()
        assert sum(dashed for _, dashed in drawn) == forms / 2, drawn.keys()

    def rates(**wanted):
        return [(row["n"], row["nb"], row["gflops"]) for row in rows
                if all(row[key] == value for key, value in wanted.items())]

    crout = rates(variant="crout", panel="device", columns="unpadded")
    assert near(curves(by_size)["crout", True], [(nb, rate) for n, nb, rate in crout if n == 72])
    best = [(n, max(rate for m, _, rate in crout if m == n)) for n in (40, 72)]
    assert near(curves(by_order)["crout", True], best)
    check_texts(figure, "block size nb", "Gflop/s", "unblocked", "16", "24", "72")


def check_updates():
    run = Run(BENCH, "--update", "--sizes", "70", "--vectors", "5,1", "--reps", "1", "--no-cpu",
              "--no-peers", "--json", "u.json")
    rows = json.loads(run.text("u.json"))["rows"]
    figure = plot.draw(str(run.folder / "u.json"))
    titles = ["5 vectors: milliseconds", "5 vectors: largest error", "1 vector: milliseconds",
              "1 vector: largest error"]
    assert [axes.get_title() for axes in figure.axes] == titles
    for axes, (k, y) in zip(figure.axes, ((5, "ms"), (5, "error"), (1, "ms"), (1, "error"))):
        drawn = curves(axes)
        expected = {(row["who"], row["direction"] == "down"): [(row["n"], row[y])] for row in rows
                    if row["k"] == k and row["missing"] == ""}
        assert len(drawn) == 4 and drawn == expected, (drawn, expected)
    check_texts(figure, "by device", "on device", "order n", "largest error", "70")


def check_refinement():
    run = Run(BENCH, "--refine", "--sizes", "40,100", "--conditions", "1e6,10", "--routines",
              "dsgesv", "--reps", "1", "--no-peers", "--json", "r.json", "--csv", "r.csv")
    rows = json.loads(run.text("r.json"))["rows"]
    figure = plot.draw(str(run.folder / "r.json"))
    for axes, title, x, fixed in zip(
            figure.axes, ("dsgesv, condition 1e+01", "dsgesv, n = 100"), ("n", "condition"),
            (("condition", 10), ("n", 100))):
        assert axes.get_title() == title, axes.get_title()
        drawn = curves(axes)
        assert drawn.keys() == {(form, False) for form in ("fp64", "fp32", "tf32", "fp16")}, drawn
        for (form, _), points in drawn.items():
            assert near(points, [(row[x], row["ms"]) for row in rows
                                 if row["form"] == form and row[fixed[0]] == fixed[1]]), points
    check_texts(figure, "condition number", "1e+06", "40",
                "Solvers from host memory to host memory (dashed: cuSOLVER)")
    (run.folder / "d.csv").write_text(run.text("r.csv").replace(",false,", ",true,"))
    check_texts(plot.draw(str(run.folder / "d.csv")),
                "Solvers on matrices that lie on the device (dashed: cuSOLVER)")


def check_timeline():
    run = Run(BENCH, "--speed-of-light", "--routines", "dpotrf", "--sizes", "128", "--nb", "32",
              "--reps", "1", "--trace", "t.json")
    trace = json.loads(run.text("t.json"))
    figure = plot.draw(str(run.folder / "t.json"))
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    bars = figure.axes[0].patches
    assert len(bars) == len(spans)
    for bar, span in zip(bars, spans):
        assert abs(bar.get_x() - span["ts"] / 1e3) < 1e-9, (bar, span)
        assert abs(bar.get_width() - span["dur"] / 1e3) < 1e-9, (bar, span)
    lanes = [event["args"]["name"] for event in trace["traceEvents"]
             if event["name"] == "thread_name"]
    texts = check_texts(figure, *lanes, *{span["cat"] for span in spans}, "bound")
    assert any(text.startswith("dpotrf, n = 128: ") for text in texts), texts
    assert any("EMULATED" in text for text in texts), "an emulated device must say so"


PROGRAMS = """operation,waits for,n,turns,error,wrong,LAPACK share,without ms,untuned ms,tuned ms
numpy solve,gesv,500,9,1e-16,,0.5,8,4,2
numpy solve,gesv,8192,9,1e-16,,0.3,60,10,10
numpy svd,gesdd,500,9,1e-16,,0.0,5,5,5
numpy inv,getri,500,9,1,"tuned, error 1",,,,
"""


def check_programs(folder):
    (folder / "programs.csv").write_text(PROGRAMS)
    figure = plot.draw(str(folder / "programs.csv"), note="A machine")
    drawn = {(axes.get_title(), name): [x for x, y in points_of(line)]
             for axes in figure.axes
             for name, line in zip(("numpy solve", "numpy svd"), axes.lines)}
    assert drawn == {("untuned", "numpy solve"): [2, 6], ("untuned", "numpy svd"): [1],
                     ("tuned", "numpy solve"): [4, 6], ("tuned", "numpy svd"): [1]}, drawn
    for axes in figure.axes:
        small, large, svd = (points.get_facecolor().tolist() for points in axes.collections)
        assert small == svd != large, "a colour for each order"
    texts = check_texts(figure, "numpy solve", "numpy svd", "n = 500", "n = 8192",
                        "times faster than without overlapack", "A machine")
    assert "numpy inv" not in texts, "its result was wrong"
    (only,) = {tuple(t.get_text() for t in axes.get_yticklabels())
               for axes in plot.draw(str(folder / "programs.csv"), ["numpy svd"]).axes[:1]}
    assert only == ("numpy svd",), only


def check_results():
    """Tables of times that the repository has, and its picture."""
    figure = plot.draw(str(RESULTS / "solvers.csv"), ["dgesv", "dsposv"])
    dgesv, dsposv = map(curves, figure.axes)
    assert dgesv["overlapack", False] == [(8192, 20.6), (16384, 92.8)], dgesv
    assert ("cuSOLVER", True) in dgesv and ("cuSOLVER", True) not in dsposv, dsposv
    picture = ET.parse(RESULTS.parent / "comparison.svg").getroot()
    texts = [text.text for text in picture.iter(SVG + "text")]
    expected = plot.draw(str(RESULTS / "factorizations.csv"), ["dpotrf", "dgetrf"])
    for text in check_texts(expected):
        assert text in texts, f"comparison.svg has not '{text}': it is not that of the results"


def check_places():
    """Names at the ends of curves stay in order, apart, and where they are wanted if they can."""
    for wanted in ([0.9, 0.5, 0.1], [0.5, 0.5, 0.5, 0.2], [0.03, 0.02, 0.01], [1, 1, 0.02, 0.01]):
        places = plot.spread(wanted, 0.1)
        assert all(a - b > 0.1 - 1e-9 for a, b in zip(places, places[1:])), places
        assert min(places) >= 0.05 and max(places) <= 0.95, places
    assert plot.spread([0.9, 0.5, 0.1], 0.1) == [0.9, 0.5, 0.1]


def check_command(folder):
    def run(*options):
        """Exit status and standard error of the script."""
        errors = io.StringIO()
        sys.argv[1:] = [str(option) for option in options]
        with contextlib.redirect_stderr(errors):
            try:
                plot.main()
            except SystemExit as end:
                return end.code, errors.getvalue()
        return 0, errors.getvalue()

    programs = folder / "programs.csv"
    for options, picture, start in (((), "programs.svg", b"<?xml"),
                                    (("--output", folder / "p.png"), "p.png", b"\x89PNG")):
        assert run(programs, *options) == (0, "")
        assert (folder / picture).read_bytes().startswith(start)
    (folder / "speed.csv").write_text("routine,n,flops_ms\ndpotrf,9,1\n")
    (folder / "empty.csv").write_text("")
    (folder / "text.json").write_text("text")
    for options, status, text in (
            ((folder / "speed.csv",), 1, "speed.csv holds nothing that is drawn"),
            ((folder / "empty.csv",), 1, "empty.csv holds nothing that is drawn"),
            ((folder / "text.json",), 1, "text.json is no JSON file"),
            ((folder / "none.csv",), 1, "none.csv: No such file or directory"),
            ((RESULTS / "shapes.csv",), 1, "'dgetrf 100000 x 256' is no square matrix"),
            ((programs, "--output", folder / "none" / "x.svg"), 1, "x.svg: No such file"),
            ((programs, "--only", "numpy typo"), 2, "plot: the file has no 'numpy typo'"),
            ((programs, "--output", "x.txt"), 2, "the picture is an .svg, .pdf or .png file"),
            ((), 2, "plot: error: ")):
        code, errors = run(*options)
        assert code == status and text in errors, (options, code, errors)


def main():
    check_places()
    check_comparison()
    check_variants()
    check_updates()
    check_refinement()
    check_timeline()
    with tempfile.TemporaryDirectory() as name:
        check_programs(pathlib.Path(name))
        check_results()
        check_command(pathlib.Path(name))


if __name__ == "__main__":
    main()
