"""gpu_calls.py: the microseconds of small sums of torch's tensors on a GPU, and where they go. For a machine with an NVIDIA GPU; half a minute:

    SAMESUM_PYTHON_PACKAGE=build/release/python python3 tests/python/gpu_calls.py

For each size, a row for each call: `host` until it returns, `all` until the GPU is through too, both per call of many, the best of some turns.
"""
import os
import sys
import time

if "SAMESUM_PYTHON_PACKAGE" in os.environ:
    sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
import torch
import samesum
import samesum.torch
from samesum import _arrays, _core, _torch_ops as ops

CALLS, TURNS = 200, 12  # fewer calls than a stream holds, so that `host` is the host's time alone


def times(function):
    host, whole = [], []
    for _ in range(TURNS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            function()
        host.append(time.perf_counter() - start)
        torch.cuda.synchronize()
        whole.append(time.perf_counter() - start)
    return 1e6 * min(host) / CALLS, 1e6 * min(whole) / CALLS


def on_the_gpu(function):
    """The GPU's own time for a call: many of them in a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        function()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        kept = [function() for _ in range(50)]
    best = min(timed(graph.replay) for _ in range(TURNS))
    del kept
    return 1e6 * best / 50


def timed(function):
    torch.cuda.synchronize()
    start = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "samesum", samesum.__version__)
    for dtype in (torch.float32, torch.float64):
        for power in (10, 14, 18, 20):
            x = torch.rand(1 << power, device="cuda", dtype=dtype)
            name, length, place = ops._RECORDS[dtype]
            record, stream, address = x.new_empty(length), torch.cuda.current_stream().cuda_stream, x.data_ptr()
            to = record.data_ptr()
            rows = {
                "torch.sum": lambda: torch.sum(x),
                "samesum.torch.sum": lambda: samesum.torch.sum(x),
                "  of it: enqueued_sum": lambda: ops.enqueued_sum(x),
                "  of it: the plan's enqueue, bound": lambda: _core.enqueue_sum(address, 1 << power, name, 0, stream, torch, to),
                "  of it: the record and its element": lambda: ops._at(x.new_empty(length), (), (), place),
                "  of it: the record": lambda: x.new_empty(length),
                "torch.sum(x).item()": lambda: torch.sum(x).item(),
                "samesum.sum, a number": lambda: samesum.sum(x),
                "samesum.torch.sum(x).item()": lambda: samesum.torch.sum(x).item(),
                "  of it: what the tensor is": lambda: _arrays.torch_memory(x),
                "  of it: a wait for a result": record.sum().item,
            }
            print(f"\n2^{power} {name}{'host':>42} {'all':>7} us; on the GPU alone, in a graph: torch {on_the_gpu(rows['torch.sum']):.2f}, "
                  f"samesum {on_the_gpu(rows['samesum.torch.sum']):.2f}")
            for row, function in rows.items():
                function()
                host, whole = times(function)
                print(f"   {row:42} {host:7.2f} {whole:7.2f}", flush=True)


if __name__ == "__main__":
    main()
