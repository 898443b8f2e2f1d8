"""gpu.py [CHECK ...]: the package on arrays in a GPU's memory, of torch, CuPy and JAX, whichever are installed. For a machine with an NVIDIA GPU:

    SAMESUM_PYTHON_PACKAGE=build/release/python python3 tests/python/gpu.py

It prints a line for each check, with its seconds, and ends with status 1 if one failed. CHECK: only those with this text in their names.
"""
import importlib
import importlib.util
import math
import os
import sys
import time
import traceback

if "SAMESUM_PYTHON_PACKAGE" in os.environ:
    sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take the memory of the others
import numpy as np
import samesum

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"]
SHAPES = ((1,), (1000,), (65537,), (30, 50), (7, 5, 3))
CHECKS = {}


def check(*libraries):
    """Registers a check for each library, whose arrays its argument makes of those of numpy."""
    def register(function):
        for library in libraries:
            CHECKS[f"{library}: {function.__name__.replace('_', ' ')}"] = (library, function)
        return function
    return register


class Skipped(Exception):
    pass


def makers(library):
    if importlib.util.find_spec({"dlpack": "torch"}.get(library, library)) is None:
        raise Skipped("not installed")
    if library == "cupy":
        import cupy
        return cupy.asarray
    if library == "jax":
        import jax
        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "gpu":
            raise Skipped(f"JAX computes on {jax.default_backend()} only")
        return jax.numpy.asarray
    import torch
    if not torch.cuda.is_available():
        raise Skipped("torch finds no GPU")
    if library == "torch":
        return lambda host: torch.from_numpy(np.ascontiguousarray(host).reshape(np.shape(host))).cuda()
    return lambda host: Only(torch.from_numpy(np.ascontiguousarray(host)).cuda())


class Only:
    """A tensor of which only DLPack's protocol is left."""

    def __init__(self, x):
        self.x, self.__dlpack__, self.__dlpack_device__ = x, x.__dlpack__, x.__dlpack_device__

    def __getitem__(self, steps):
        return Only(self.x[steps])


def ugly(rng, shape, dtype):
    """Elements of all sizes that cancel."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(-100 if dtype.kind == "i" else 0, 100, shape).astype(dtype)
    top = {2: 8, 4: 60, 8: 500}[dtype.itemsize]
    x = (rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-top, top, shape)).astype(dtype)
    flat = x.reshape(-1)
    flat[:flat.size // 3] = -flat[flat.size // 3: 2 * (flat.size // 3)]
    return x


def pairs_of(put, types=TYPES):
    """Arrays on the host and on the GPU, with the same elements and with gaps."""
    rng = np.random.default_rng(1)
    for dtype in types:
        for shape in SHAPES:
            host = ugly(rng, shape, dtype)
            steps = tuple(slice(None, None, int(rng.integers(1, 3))) for _ in shape)
            yield host[steps], put(host)[steps]


def same(found, wanted, what=""):
    """Equal, bit for bit."""
    found, wanted = (np.asarray(each.cpu() if hasattr(each, "cpu") else each.get() if hasattr(each, "get") else each) for each in (found, wanted))
    if found.shape != wanted.shape or not np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"):
        raise AssertionError(f"{what}: {found!r} in the place of {wanted!r}")


def exact_sum(host):
    return math.fsum(host.ravel().tolist()) if host.dtype.kind == "f" else sum(host.ravel().tolist())


ALL = ("torch", "cupy", "jax", "dlpack")


@check(*ALL)
def sums_are_exact(put):
    for host, there in pairs_of(put):
        same(samesum.sum(there), exact_sum(host), (host.dtype, host.shape))
        same(samesum.Accumulator(there).value(), exact_sum(host))


@check(*ALL)
def statistics_are_those_of_the_host(put):
    for host, there in pairs_of(put):
        for name in ("mean", "var", "std", "norm", "min", "max", "argmin", "argmax", "count_nonzero", "median"):
            function = getattr(samesum, name)
            same(function(there), function(host), name)
        if samesum.stats(there) != samesum.stats(host):
            raise AssertionError("stats")


@check(*ALL)
def axes(put):
    for host, there in pairs_of(put):
        for axis in range(host.ndim):
            for name in ("sum", "mean", "max", "argmin"):
                same(getattr(samesum, name)(there, axis=axis), getattr(samesum, name)(host, axis=axis), name)


@check(*ALL)
def products_of_vectors(put):
    for host, there in pairs_of(put, ["float32", "float64", "int32"]):
        same(samesum.vdot(there, there), samesum.vdot(host, host))


@check("torch", "cupy")
def products_of_matrices(put):
    random = np.random.default_rng(7)
    for kind in ("float32", "float64", "int32"):
        a, b = ((random.standard_normal(shape) * 1000).astype(kind) for shape in ((40, 33), (33, 50)))
        there_a, there_b = put(a), put(b)
        for name in ("matmul", "dot"):
            same(getattr(samesum, name)(there_a, there_b), getattr(samesum, name)(a, b), name)
            same(getattr(samesum, name)(there_a, there_b[:, 3]), getattr(samesum, name)(a, b[:, 3]), name)
        same(samesum.vecdot(there_a, there_a), samesum.vecdot(a, a), "vecdot")
        same(samesum.vecdot(there_a, there_a[:, :1], axis=0), samesum.vecdot(a, a[:, :1], axis=0), "vecdot")
        out = put(np.zeros((40, 50), np.float64 if kind.startswith("f") else np.int64))
        samesum.matmul(there_a, there_b, out=out)
        same(out, samesum.matmul(a, b), "out")


@check(*ALL)
def histograms(put):
    for host, there in pairs_of(put):
        if samesum.histogram(there, 10, (-50, 50)) != samesum.histogram(host, 10, (-50, 50)):
            raise AssertionError((host.dtype, host.shape))


@check("torch", "cupy", "jax")
def array_api(put):
    from samesum import array_api as xp
    for host, there in pairs_of(put, ["float32", "float64", "int16"]):
        for name in ("sum", "mean", "var", "max", "argmax", "all", "cumulative_sum"):
            if host.dtype.kind == "i" and name in ("mean", "var"):
                continue
            options = {"axis": 0} if name == "cumulative_sum" else {}
            found = getattr(xp, name)(there, **options)
            if type(found) is not type(there):
                raise AssertionError(f"{name} gives {type(found)}")
            same(found, getattr(xp, name)(host, **options), name)


@check("torch", "cupy")
def lazy_sums_stay_on_the_GPU(put):
    for host, there in pairs_of(put):
        found = samesum.sum(there, lazy=True)
        if type(found) is not type(there):
            raise AssertionError(type(found))
        same(found, np.asarray(exact_sum(host)), (host.dtype, host.shape))
        for axis in range(host.ndim):
            same(samesum.sum(there, axis=axis, keepdims=True, lazy=True), samesum.sum(host, axis=axis, keepdims=True))


@check("torch", "cupy")
def plans(put):
    for host, there in pairs_of(put, ["float32", "float64", "int32"]):
        if not host.flags.c_contiguous:
            continue
        record = put(np.zeros(3))
        for size in (len(host), 1, len(host)):
            plan = samesum.Plan("sum", there)
            plan.enqueue(there[:size], out=record)
            plan.enqueue(there[:size])
            if plan.result() != samesum.Accumulator(host[:size]):
                raise AssertionError((host.dtype, host.shape))
            if host.dtype.kind == "f":
                same(record[0], np.float64(exact_sum(host[:size])))
        for name, function in (("statistics", samesum.stats), ("dot", lambda x: samesum.vdot(x, x))):
            plan = samesum.Plan(name, there)
            plan.enqueue(*[there] * (2 if name == "dot" else 1))
            if plan.result() != function(host):
                raise AssertionError(name)


@check("torch", "cupy")
def more_plans(put):
    """Histograms, axes, pairs, formulas and operators: a result as on the host, and the same bits in a place on the GPU."""
    for host, there in pairs_of(put, ["float32", "float64", "int32"]):
        if not host.flags.c_contiguous:
            continue
        for make, others, wanted, place in (
                (lambda x: samesum.Plan.histogram(x, 10, (-50, 50)), 1, samesum.histogram(host, 10, (-50, 50)), np.zeros(13, "i8")),
                (lambda x: samesum.Plan("sum", x, axis=0), 1, samesum.sum(host, axis=0), None),
                (lambda x: samesum.Plan("mean", x, axis=host.ndim - 1, keepdims=True), 1, samesum.mean(host, axis=host.ndim - 1, keepdims=True), None),
                (lambda x: samesum.Plan.map("x*y - x", x=x, y=x), 2, samesum.stats(samesum.map("x*y - x", x=host, y=host)), np.zeros(16)),
                (lambda x: samesum.Plan.reduce(x, "b == 0 ? a : b"), 1, samesum.reduce(host, "b == 0 ? a : b"), np.zeros(1, "i8"))):
            plan, out = make(there), put(np.zeros_like(wanted) if place is None else place)
            plan.enqueue(*[there] * others)
            found = plan.result()
            plan.enqueue(*[there] * others, out=out)
            on_host = np.asarray(out.cpu() if hasattr(out, "cpu") else out.get())
            if isinstance(wanted, np.ndarray):
                same(found, wanted, (host.dtype, host.shape))
                same(out, wanted, (host.dtype, host.shape))
            elif found != wanted:
                raise AssertionError((host.dtype, host.shape, found, wanted))
            elif isinstance(wanted, samesum.Histogram):
                same(on_host[1:-2], wanted.counts())
            elif isinstance(wanted, samesum.Statistics):
                same(on_host[5], wanted.mean)
            else:
                same(on_host.view({"float32": "f4", "float64": "f8", "int32": "i8"}[host.dtype.name])[0], wanted)
        a, b = there.reshape(-1)[:37], there.reshape(-1)
        for reduction in ("argmin", "max", "sum") if host.dtype.kind == "f" else ("argmin", "max"):  # a sum of integers may fail
            wanted = samesum.pairs(host.reshape(-1)[:37], host.reshape(-1), "absdiff", reduction)
            plan, out = samesum.Plan.pairs(a, b, "absdiff", reduction), put(np.zeros_like(wanted))
            plan.enqueue(a, b, out=out)
            plan.enqueue(a, b)
            same(plan.result(), wanted, reduction)
            same(out, wanted, reduction)


@check("cupy")
def streams(put):
    import cupy
    with cupy.cuda.Stream(non_blocking=True):
        for _ in range(50):
            x = cupy.ones(1 << 22, "f4")
            x *= 3
            same(samesum.sum(x), 3.0 * (1 << 22))
            same(samesum.sum(x, lazy=True), np.float64(3.0 * (1 << 22)))


@check("torch")
def streams_of_torch(put):
    import torch
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(50):
            x = torch.ones(1 << 22, device="cuda")
            x.mul_(3)
            same(samesum.sum(x), 3.0 * (1 << 22))
            same(samesum.torch.sum(x), np.float32(3.0 * (1 << 22)))


@check("torch")
def functions_of_samesum_torch(put):
    import torch
    rng = np.random.default_rng(2)
    index = torch.from_numpy(rng.integers(0, 7, 1000)).cuda()
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32):
        dtype = {torch.float16: "float16", torch.int32: "int32", torch.float64: "float64"}.get(kind, "float32")
        there = put(ugly(rng, (1000,), dtype)).to(kind)
        host = there.cpu()
        names = ("sum", "mean", "var", "std", "norm") if kind != torch.int32 else ("sum",)
        for name in names:
            function = getattr(samesum.torch, name)
            for x, y in ((there, host), (there.reshape(10, 100), host.reshape(10, 100))):
                for dim in (None, *range(x.dim())):
                    found = function(x, dim)
                    if found.dtype != (torch.int64 if kind == torch.int32 else kind) or not found.is_cuda:
                        raise AssertionError((name, found.dtype))
                    same(found.double(), function(y, dim).double(), (name, kind, dim))
        for function in (lambda x: samesum.torch.cumsum(x), lambda x: samesum.torch.index_sum(x, index.to(x.device), 9), lambda x: samesum.torch.dot(x, x)):
            same(function(there).double(), function(host).double(), kind)
        rows = there.reshape(250, 4)
        same(samesum.torch.index_sum(rows, index[:250], 9).double(), samesum.torch.index_sum(rows.cpu(), index[:250].cpu(), 9).double())


@check("torch")
def deterministic_block(put):
    import torch
    x = torch.tensor([1e16, 1.0, -1e16, 1.0], dtype=torch.float64, device="cuda")
    index, zero = torch.tensor([0, 0, 0, 1], device="cuda"), torch.zeros(2, dtype=torch.float64, device="cuda")
    with samesum.torch.deterministic(strict=True):
        found = [x.sum().reshape(1), x.cumsum(0)[-1:], zero.index_add(0, index, x), zero.scatter_add(0, index, x), torch.bincount(index, x)]
    same(torch.cat(found), np.array([2.0, 2.0, *[1.0, 1.0] * 3]))


@check("torch")
def gradients(put):
    import torch
    x = torch.tensor([[0.5, -1.25, 3.0], [2.0, 0.75, -0.5]], dtype=torch.float64, device="cuda", requires_grad=True)
    index = torch.tensor([1, 0, 1], device="cuda")
    for function in (samesum.torch.sum, lambda x: samesum.torch.mean(x, 1), lambda x: samesum.torch.var(x, 0), samesum.torch.norm,
                     lambda x: samesum.torch.cumsum(x, 1), lambda x: samesum.torch.index_sum(x[0], index, 3)):
        if not torch.autograd.gradcheck(function, (x,)):
            raise AssertionError


@check("torch")
def a_CUDA_graph_of_torch(put):
    import torch
    stream, x = torch.cuda.Stream(), torch.ones(100003, device="cuda")
    with torch.cuda.stream(stream):  # compiles and allocates
        samesum.torch.sum(x)
        samesum.sum(x, lazy=True)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        both = samesum.torch.sum(x), samesum.sum(x, lazy=True)
    for factor in (3.0, -0.1, 1e30):
        x.fill_(factor)
        x[:2] = torch.tensor([1e20, -1e20])
        graph.replay()
        torch.cuda.synchronize()
        wanted = samesum.sum(x.cpu().numpy())
        same(both[0], np.float32(wanted))
        same(both[1], np.float64(wanted))


@check("cupy")
def a_CUDA_graph_of_CuPy(put):
    import cupy
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, place = cupy.ones(100003, "f4"), cupy.empty((), "f8")
        place[...] = samesum.sum(x, lazy=True)
        stream.synchronize()
        stream.begin_capture()
        found = samesum.sum(x, lazy=True)
        graph = stream.end_capture()
        for factor in (3.0, 0.1):
            x.fill(factor)
            graph.launch(stream)
            stream.synchronize()
            same(found, np.float64(samesum.sum(x.get())))


@check("torch")
def what_torch_alone_has(put):
    import torch
    x = torch.randn(1000, device="cuda").bfloat16()
    same(samesum.sum(x), samesum.sum(x.float()))
    same(samesum.sum(x.float().requires_grad_()), samesum.sum(x.float()))
    same(samesum.sum(x.float(), lazy=True), np.float64(samesum.sum(x.float())))
    z = torch.randn(40, 6, device="cuda", dtype=torch.complex128)
    for each in (z, z.conj(), z.conj().imag, z.real, z[1:, ::2], z.t(), x > 0, (x > 0).reshape(40, 25)[:, ::3], x[:0].float()):
        same(samesum.sum(each), samesum.sum(each.cpu()), each.dtype)
    try:
        samesum.sum(z, axis=0, out=torch.zeros(6, device="cuda", dtype=z.dtype).conj())
    except TypeError as error:
        assert "conjugates" in str(error), error
    else:
        raise AssertionError("out was written as if it were not conjugated")
    same(samesum.sum(torch.arange(7).to(torch.uint16).cuda()), 21)


@check("torch")
def microseconds(put):
    """Prints how long sums take beside torch's, the best of five; nothing is asserted."""
    import torch

    def best(function, calls=200):
        times = []
        for _ in range(5):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / calls)
        return 1e6 * min(times)
    print("      elements    left on the GPU: samesum.torch, lazy=True, torch    as a number: samesum, torch")
    for power in (10, 16, 20, 24, 28):
        x, calls = torch.rand(1 << power, device="cuda"), 200 if power < 26 else 40
        times = [best(each, calls) for each in (lambda: samesum.torch.sum(x), lambda: samesum.sum(x, lazy=True), lambda: torch.sum(x),
                                                lambda: samesum.sum(x), lambda: torch.sum(x).item())]
        print(f"      2^{power:<10} {times[0]:10.1f} {times[1]:10.1f} {times[2]:10.1f}    {times[3]:10.1f} {times[4]:10.1f}")


def main():
    failed = 0
    start = time.perf_counter()
    if importlib.util.find_spec("torch") is not None:
        importlib.import_module("samesum.torch")
    puts = {}
    for library in ALL:
        try:
            puts[library] = makers(library)
        except Skipped as why:
            print(f"--           {library} is skipped: {why}")
    for name, (library, function) in CHECKS.items():
        if library not in puts or (sys.argv[1:] and not any(text in name for text in sys.argv[1:])):
            continue
        begun = time.perf_counter()
        try:
            function(puts[library])
            print(f"ok   {time.perf_counter() - begun:5.1f} s  {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL {time.perf_counter() - begun:5.1f} s  {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            print("   " + "\n   ".join(traceback.format_exc().splitlines()[-8:]), flush=True)
    print(f"{failed} failed, {time.perf_counter() - start:.0f} s, samesum {samesum.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}")
    if not puts:
        print("Nothing was tested: this needs torch, CuPy or JAX, and a GPU")
    return failed > 0 or not puts


if __name__ == "__main__":
    sys.exit(main())
