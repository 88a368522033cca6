"""Usage: python3 run_calls.py LIBRARY FORM MAX_N

Makes the calls of one form of scripts/compare-results with one liboverlapack.so, and prints a line
of JSON for each: title, info, iter, where it ran, and the SHA-256 of every output. The settings of
the form stand in the environment already. OVERLAPACK_VERBOSE names the log.
"""
import collections
import ctypes
import hashlib
import itertools
import json
import math
import os
import re
import sys
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit("run_calls: there is no NumPy")

TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
LOWER_PRECISION = {"d": "s", "z": "c"}
MIXED = {"sgesv": ("d", "gesv"), "sposv": ("d", "posv"),
         "cgesv": ("z", "gesv"), "cposv": ("z", "posv")}

# letter: the matrix's type. routine: without that letter. form: U or L, N, T or C, or sigma.
# kind: what is special about the data. wide: names with 64-bit integers. resident: operands in the
# device's memory.
Call = collections.namedtuple("Call", "letter routine form m n nrhs pad kind wide resident")


def call(letter, routine, n, form="", m=None, nrhs=0, pad=0, kind="", wide=False, resident=False):
    return Call(letter, routine, form, n if m is None else m, n, nrhs, pad, kind, wide, resident)


def name_of(c):
    if c.routine.startswith("cholupdate"):
        return "ovl_" + c.letter + c.routine
    return c.letter + c.routine + ("_64_" if c.wide else "_")


def title_of(c):
    words = [name_of(c).rstrip("_"), c.form, f"{c.m}x{c.n}" if c.m != c.n else str(c.n)]
    words += [f"k={c.nrhs}" if "ch" in c.routine else f"nrhs={c.nrhs}"] if c.nrhs else []
    words += [f"ld+{c.pad}"] if c.pad else []
    words += [c.kind, "resident" if c.resident else ""]
    return " ".join(word for word in words if word)


# ---- the table

def cholesky_calls(letter):
    for uplo in "LU":
        for n, pad in ((96, 0), (257, 6), (700, 0), (1500, 7), (3000, 0)):
            yield call(letter, "potrf", n, uplo, pad=pad)
        for n, nrhs in ((300, 1), (700, 3), (1500, 37)):
            yield call(letter, "potrs", n, uplo, nrhs=nrhs, pad=5)
        for n, nrhs in ((300, 1), (1500, 5), (3000, 100)):
            yield call(letter, "posv", n, uplo, nrhs=nrhs, pad=3)
        for routine, n, nrhs in (("potrf", 257, 0), ("potrf", 1500, 0), ("posv", 700, 2)):
            yield call(letter, routine, n, uplo, nrhs=nrhs, kind="indefinite")
    for routine, nrhs in (("potrf", 0), ("potrs", 2), ("posv", 2)):
        yield call(letter, routine, 300, "L", nrhs=nrhs, wide=True)
    for routine, n, nrhs in (("potrf", 3000, 0), ("potrf", 96, 0), ("posv", 1500, 3)):
        yield call(letter, routine, n, "U", nrhs=nrhs, pad=4, resident=True)


def lu_calls(letter):
    for m, n, pad in ((96, 96, 0), (257, 257, 6), (700, 700, 0), (1500, 1500, 7), (3000, 3000, 0),
                      (650, 130, 1), (130, 650, 1), (5000, 300, 1), (300, 5000, 1), (20000, 32, 0)):
        yield call(letter, "getrf", n, m=m, pad=pad)
    for m, n in ((257, 257), (1500, 1500), (5000, 300)):
        yield call(letter, "getrf", n, m=m, kind="singular")
    for trans in "NTC":
        for n, nrhs in ((300, 1), (700, 3), (1500, 37)):
            yield call(letter, "getrs", n, trans, nrhs=nrhs, pad=5)
    for n, nrhs in ((300, 1), (1500, 5), (3000, 100)):
        yield call(letter, "gesv", n, nrhs=nrhs, pad=3)
    yield call(letter, "gesv", 700, nrhs=2, kind="singular")
    for routine, nrhs in (("getrf", 0), ("gesv", 2)):
        yield call(letter, routine, 300, nrhs=nrhs, wide=True)
    yield call(letter, "getrs", 300, "T", nrhs=2, wide=True)
    for routine, n, nrhs in (("getrf", 3000, 0), ("getrf", 96, 0), ("gesv", 1500, 3)):
        yield call(letter, routine, n, nrhs=nrhs, pad=4, resident=True)


def update_calls(letter):
    for routine in ("cholupdate", "cholupdate_mixed"):
        for uplo, sigma in itertools.product("LU", "+-"):
            for n, k in ((300, 1), (700, 5), (1500, 17)):
                yield call(letter, routine, n, uplo + sigma, nrhs=k, pad=3)
        yield call(letter, routine, 700, "U-", nrhs=3, kind="indefinite")
        yield call(letter, routine, 1500, "L-", nrhs=3, resident=True)
    for n in (300, 1500):
        for routine in ("ch1up", "ch1dn", "chud", "chdd"):
            yield call(letter, routine, n, nrhs=3 if routine in ("chud", "chdd") else 0, pad=2)
    for routine in ("ch1dn", "chdd"):
        yield call(letter, routine, 700, nrhs=3 if routine == "chdd" else 0, kind="indefinite")


def mixed_calls():
    for routine, (letter, solver) in MIXED.items():
        for uplo in "LU" if solver == "posv" else ("",):
            for n, nrhs in ((300, 1), (1500, 3), (3000, 100)):
                yield call(letter, routine, n, uplo, nrhs=nrhs, pad=3)
            wrong = "indefinite" if solver == "posv" else "singular"
            for kind in (wrong, "large", *(() if solver == "posv" else ("ill-conditioned",))):
                yield call(letter, routine, 700, uplo, nrhs=2, kind=kind)
        uplo = "L" if solver == "posv" else ""
        yield call(letter, routine, 300, uplo, nrhs=2, wide=True)
        yield call(letter, routine, 1500, uplo, nrhs=2, resident=True)


def large_calls():
    for letter in "sdcz":
        yield call(letter, "potrf", 6000, "L", pad=1)
        yield call(letter, "getrf", 6000)
    for letter in "dz":
        yield call(letter, "potrf", 6000, "U")
        yield call(letter, "posv", 6000, "L", nrhs=2)
    yield call("d", "sgesv", 6500, nrhs=2)
    yield call("z", "cgesv", 6500, nrhs=2)
    yield call("d", "sposv", 6500, "L", nrhs=2)
    # The orders from which on double precision takes products of integers by itself.
    yield call("d", "potrf", 9300, "L")
    yield call("d", "potrf", 9300, "U", resident=True)
    yield call("d", "getrf", 14700)


def both(letters, sizes):
    """Both factorizations, each with one solver."""
    for letter, n in itertools.product(letters, sizes):
        yield call(letter, "potrf", n, "L")
        yield call(letter, "potrf", n, "U", pad=3)
        yield call(letter, "getrf", n, pad=3)
        yield call(letter, "posv", n, "L", nrhs=2)
        yield call(letter, "gesv", n, nrhs=2)


def mixed(sizes):
    for n, (routine, (letter, solver)) in itertools.product(sizes, MIXED.items()):
        yield call(letter, routine, n, "L" if solver == "posv" else "", nrhs=2)


def calls_of(form):
    if form == "default":
        for letter in TYPES:
            yield from cholesky_calls(letter)
            yield from lu_calls(letter)
            yield from update_calls(letter)
        yield from mixed_calls()
        yield from large_calls()
    elif form == "hybrid":
        yield from both("sdcz", (300, 1500))
        for m, n in ((5000, 300), (300, 5000)):
            yield call("d", "getrf", n, m=m)
        yield call("d", "getrf", 700, kind="singular")
        yield call("d", "potrf", 700, "L", kind="indefinite")
    elif form == "fp32-strict":
        yield from both("sc", (300, 3000))
        yield from mixed((300, 3000))
    elif form == "fp64-strict":
        yield from both("dz", (300, 6000))
        yield call("d", "potrf", 9300, "L")
    elif form in ("columns", "triangle"):
        yield from both("dz", (300, 1500, 6000))
        yield call("s", "potrf", 6000, "L")
        yield from mixed((6500,))
    elif form == "halves":
        yield from mixed((300, 1500, 3000))
    elif form == "nb":
        yield from both("sdcz", (300, 1500))
        yield from mixed((1500,))
    elif form == "fp16":
        yield from mixed((300, 3000))
    else:
        sys.exit(f"run_calls: there is no form '{form}'")


# ---- data

class Data:
    """Random arrays with a seed of their own, by the title of the call. Matrices are stored by
    columns: storage[j, i] is element (i, j), and padding is random, too."""

    def __init__(self, c):
        self.rng = np.random.default_rng(zlib.crc32(title_of(c).encode()))
        self.type = np.dtype(TYPES[c.letter])
        self.real = np.dtype(self.type.char.lower())
        self.c = c

    def matrix(self, rows, cols, pad=0):
        storage = self.at_cache_line(cols, rows + pad)
        self.rng.standard_normal(out=storage.view(self.real), dtype=self.real)
        return storage

    def at_cache_line(self, *shape):
        """Which pieces come home together, and so what the CPU finishes, depends on where a matrix
        lies in a cache line. NumPy promises 16 bytes only."""
        count, line = math.prod(shape), 64 // self.type.itemsize
        room = np.empty(count + line, self.type)
        first = -room.ctypes.data % 64 // self.type.itemsize
        return room[first:first + count].reshape(shape)

    def vector(self, n, dtype=None):
        values = self.rng.standard_normal(n, dtype=self.real)
        return values.astype(self.type if dtype is None else dtype)

    def diagonal(self, storage, value):
        places = np.arange(min(self.c.m, self.c.n))
        storage[places, places] = value

    def definite(self):
        """Condition number about 6; in the other triangle is what nobody may read."""
        a = self.matrix(self.c.n, self.c.n, self.c.pad)
        self.diagonal(a, 4 * math.sqrt(self.c.n))
        if self.c.kind == "indefinite":
            a[2 * self.c.n // 3, 2 * self.c.n // 3] = -1
        return self.scaled(a)

    def general(self):
        a = self.matrix(self.c.m, self.c.n, self.c.pad)
        if self.c.kind == "singular":
            a[2 * self.c.n // 3, :self.c.m] = 0
        if self.c.kind == "ill-conditioned":
            a[-1] = a[0] + 1e-12 * a[-1]
        return self.scaled(a)

    def scaled(self, a):
        if self.c.kind == "large":  # for single precision
            a *= 1e50
        return a

    def factor(self):
        """Both triangles are well-conditioned factors."""
        a = self.matrix(self.c.n, self.c.n, self.c.pad)
        a *= self.real.type(0.5 / math.sqrt(self.c.n))
        self.diagonal(a, 2)
        return a

    def pivots(self):
        n = self.c.n
        return np.arange(1, n + 1) + self.rng.integers(0, np.arange(n, 0, -1))

    def vectors(self, k, pad=0):
        """A small change of factor(), or one that no downdate survives."""
        v = self.matrix(self.c.n, k, pad)
        v *= self.real.type(100 if self.c.kind == "indefinite" else 0.1 / math.sqrt(self.c.n))
        return v


# ---- the memory of the device

class Gpu:
    """Its memory, by the driver's interface alone."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        index = re.fullmatch(r"cuda:(\d+)", os.environ.get("OVERLAPACK_DEVICE", ""))
        self.ask("cuInit", 0)
        self.ask("cuDeviceGet", ctypes.byref(device), int(index[1]) if index else 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.ask("cuCtxSetCurrent", context)

    def ask(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status != 0:
            raise OSError(f"{function} says {status}")

    def copy_of(self, array):
        address = ctypes.c_uint64()
        self.ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
        self.ask("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data),
                 ctypes.c_size_t(array.nbytes))
        self.ask("cuCtxSynchronize")
        return address

    def take_back(self, address, array):
        self.ask("cuCtxSynchronize")
        self.ask("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address,
                 ctypes.c_size_t(array.nbytes))
        self.ask("cuMemFree_v2", address)


def open_gpu():
    if not os.environ.get("OVERLAPACK_DEVICE", "").startswith("cuda"):
        return None
    try:
        return Gpu()
    except OSError as error:
        print(f"run_calls: operands in the GPU's memory are left out: {error}", file=sys.stderr)
        return None


# ---- one call

class Arguments:
    """What is passed, and which of it is an output."""

    def __init__(self, c, gpu):
        self.integer = np.int64 if c.wide else np.int32
        self.gpu = gpu if c.resident else None
        self.passed, self.outputs, self.lent, self.kept = [], {}, [], []

    def letter(self, text):
        self.passed.append(ctypes.c_char_p(text.encode()))

    def numbers(self, *values):
        for value in values:
            self.array(None, np.array([value], self.integer))

    def array(self, name, array, lend=False):
        """An output, if it has a name. It may lie in the device's memory if `lend`."""
        self.kept.append(array)
        if name:
            self.outputs[name] = array
        if lend and self.gpu:
            self.lent.append((self.gpu.copy_of(array), array))
            self.passed.append(ctypes.c_void_p(self.lent[-1][0].value))
        else:
            self.passed.append(ctypes.c_void_p(array.ctypes.data))

    def integers(self, name, values):
        self.array(name, np.array(values, self.integer))

    def lengths(self, count):
        self.passed += [ctypes.c_size_t(1)] * count

    def take_back(self):
        for address, array in self.lent:
            self.gpu.take_back(address, array)


def lapack_arguments(c, data, arguments):
    """Of potrf, potrs, posv, getrf, getrs and gesv."""
    cholesky = c.routine.startswith("po")
    if c.form:
        arguments.letter(c.form)
    arguments.numbers(*((c.m, c.n) if c.routine == "getrf" else (c.n,)))
    if c.nrhs:
        arguments.numbers(c.nrhs)
    given_factor = c.routine.endswith("trs")
    a = data.factor() if given_factor else data.definite() if cholesky else data.general()
    arguments.array("a", a, lend=True)
    arguments.numbers(c.m + c.pad)
    if not cholesky:
        pivots = data.pivots() if given_factor else np.zeros(min(c.m, c.n), int)
        arguments.integers("ipiv", pivots)
    if c.nrhs:
        arguments.array("b", data.matrix(c.n, c.nrhs, c.pad), lend=True)
        arguments.numbers(c.n + c.pad)
    arguments.integers("info", [-99])
    arguments.lengths(1 if c.form else 0)


def mixed_arguments(c, data, arguments):
    cholesky = MIXED[c.routine][1] == "posv"
    if cholesky:
        arguments.letter(c.form)
    arguments.numbers(c.n, c.nrhs)
    arguments.array("a", data.definite() if cholesky else data.general(), lend=True)
    arguments.numbers(c.n + c.pad)
    if not cholesky:
        arguments.integers("ipiv", np.zeros(c.n, int))
    for name in ("b", "x"):
        arguments.array(name, data.matrix(c.n, c.nrhs, c.pad), lend=True)
        arguments.numbers(c.n + c.pad)
    lower = TYPES[LOWER_PRECISION[c.letter]]
    arguments.array(None, np.empty(c.n * c.nrhs, data.type))
    arguments.array(None, np.empty(c.n * (c.n + c.nrhs), lower))
    if c.letter == "z":
        arguments.array(None, np.empty(c.n, np.float64))
    arguments.integers("iter", [-99])
    arguments.integers("info", [-99])
    arguments.lengths(1 if cholesky else 0)


def native_arguments(c, data, arguments):
    """Of ovl_?cholupdate and ovl_?cholupdate_mixed, which take integers by value."""
    size = ctypes.c_int64
    arguments.passed += [ctypes.c_char(c.form[0].encode()), size(c.n), size(c.nrhs)]
    arguments.array("a", data.factor(), lend=True)
    arguments.passed.append(size(c.n + c.pad))
    arguments.array("v", data.vectors(c.nrhs, c.pad), lend=True)
    arguments.passed.append(size(c.n + c.pad))
    sign = 1 if c.form[1] == "+" else -1
    if c.routine.endswith("_mixed"):
        arguments.array(None, np.array([sign * (-1) ** j for j in range(c.nrhs)], np.int32))
    else:
        arguments.passed.append(ctypes.c_int(sign))
    arguments.array("info", np.array([-99], np.int64))


def qrupdate_arguments(c, data, arguments):
    arguments.numbers(c.n)
    arguments.array("r", data.factor())
    arguments.numbers(c.n + c.pad)
    arguments.array("u", data.vectors(1))
    arguments.array("w", np.zeros(c.n, data.real))
    if c.routine == "ch1dn":
        arguments.integers("info", [-99])


def linpack_arguments(c, data, arguments):
    arguments.array("r", data.factor())
    arguments.numbers(c.n + c.pad, c.n)
    arguments.array("row", data.vectors(1))
    arguments.array("z", data.matrix(c.n, c.nrhs, c.pad))
    arguments.numbers(c.n + c.pad, c.nrhs)
    arguments.array("y", data.vector(c.nrhs))
    arguments.array("rho", np.full(c.nrhs, 100, data.real))
    arguments.array("c", np.zeros(c.n, data.real))
    arguments.array("sines", np.zeros(c.n, data.type))
    if c.routine == "chdd":
        arguments.integers("info", [-99])


def arguments_of(c, gpu):
    data, arguments = Data(c), Arguments(c, gpu)
    if c.routine in MIXED:
        mixed_arguments(c, data, arguments)
    elif c.routine.startswith("cholupdate"):
        native_arguments(c, data, arguments)
    elif c.routine.startswith("ch1"):
        qrupdate_arguments(c, data, arguments)
    elif c.routine in ("chud", "chdd"):
        linpack_arguments(c, data, arguments)
    else:
        lapack_arguments(c, data, arguments)
    return arguments


class Log:
    """Where calls ran, by the library's own log."""

    def __init__(self):
        self.path, self.read = os.environ["OVERLAPACK_VERBOSE"], 0

    def where(self):
        try:
            with open(self.path) as log:
                log.seek(self.read)
                text = log.read()
                self.read = log.tell()
        except OSError:
            return "-"
        found = re.findall(r" where=(\S+)", text)
        return found[-1] if found else "-"


def make(c, function, gpu, log):
    arguments = arguments_of(c, gpu)
    function.restype = None
    function(*arguments.passed)
    arguments.take_back()
    outputs = arguments.outputs
    info = int(outputs["info"][0]) if "info" in outputs else 0
    if c.routine in MIXED and info != 0:
        del outputs["x"]  # undefined
    result = {"title": title_of(c), "info": info, "where": log.where()}
    if "iter" in outputs:
        result["iter"] = int(outputs["iter"][0])
    result["outputs"] = {name: hashlib.sha256(array).hexdigest()
                         for name, array in outputs.items()}
    return result


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, form, largest = sys.argv[1], sys.argv[2], int(sys.argv[3])
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    gpu, log = open_gpu(), Log()
    for c in calls_of(form):
        if max(c.m, c.n) > largest or (c.resident and gpu is None):
            continue
        function = getattr(library, name_of(c), None)
        if function is None:
            result = {"title": title_of(c), "lacks": name_of(c)}
        else:
            result = make(c, function, gpu, log)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
