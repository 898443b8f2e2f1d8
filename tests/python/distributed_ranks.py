"""distributed_ranks.py RANK SIZE FOLDER: one of the processes of distributed_test.py. Every rank knows what all of them have."""
import random
import sys
from fractions import Fraction

import numpy as np
import samesum
import samesum.distributed
import torch
import torch.distributed
from exact_rounding import FORMS, rounded

rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=size)
compared = 0
KINDS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}


def wanted(column, dtype):
    """What the sum of these elements is, as a Python float."""
    if any(np.isnan(v) for v in column) or (float("inf") in column and float("-inf") in column):
        return float("nan")
    if float("inf") in column or float("-inf") in column:
        return float("inf") if float("inf") in column else float("-inf")
    if all(v == 0 and np.signbit(v) for v in column):
        return -0.0
    return rounded(sum((Fraction(v) for v in column), Fraction(0)), dtype)


def check(tensors, **named):
    """`tensors`: those of all ranks."""
    global compared
    dtype = tensors[0].dtype
    mine = tensors[rank]
    columns = list(zip(*(each.double().reshape(-1).tolist() for each in tensors)))
    right = torch.tensor([wanted(column, dtype) for column in columns], dtype=torch.float64)
    found = samesum.distributed.all_reduce_exact(mine, **named)
    assert found is mine
    flat = found.double().reshape(-1)
    same = (flat.view(torch.int64) == right.view(torch.int64)) | (flat.isnan() & right.isnan())
    assert bool(same.all()), (dtype, [(columns[i], flat[i].item(), right[i].item()) for i in (~same).nonzero().reshape(-1).tolist()][:3])
    compared += len(columns)


def ugly(rng, dtype, n):
    """Elements of all sizes, and such that lie near the middle between two numbers when they are added."""
    digits, lowest = FORMS[dtype]
    top = {torch.float16: 15, torch.bfloat16: 127, torch.float32: 127, torch.float64: 1023}[dtype]
    values = []
    for _ in range(n):
        kind = rng.random()
        if kind < 0.4:
            values.append(rng.uniform(-1, 1) * 2.0 ** rng.randint(lowest, top))
        elif kind < 0.8:
            values.append(rng.choice([1.0, -1.0, 2.0**-digits, 2.0**-digits * 1.5, -2.0**-digits, 2.0**-(2 * digits), -2.0**-(2 * digits)]))
        elif kind < 0.9:
            values.append(rng.choice([float(torch.finfo(dtype).max), -float(torch.finfo(dtype).max), 2.0 ** (top - digits)]))
        else:
            values.append(rng.choice([0.0, -0.0, 2.0**lowest, -2.0**lowest]))
    return torch.tensor(values, dtype=torch.float64).to(dtype)


rng = random.Random(1)
for dtype in FORMS:
    for block in (7, 1 << 16):
        check([ugly(rng, dtype, 1000) for _ in range(size)], block=block)
    check([torch.tensor([1.0, rank_, -1.0, float("nan") if rank_ == 0 else 1.0, float("inf"), -0.0, float("inf") if rank_ else float("-inf")],
                        dtype=dtype) for rank_ in range(size)])
    check([ugly(rng, dtype, 24).reshape(2, 3, 4).transpose(0, 2) for _ in range(size)], block=5)  # not contiguous
    check([ugly(rng, dtype, 6).reshape(2, 3)[:, 1] for _ in range(size)])
    check([torch.zeros(0, dtype=dtype) for _ in range(size)])
    check([torch.tensor(0.5, dtype=dtype) for _ in range(size)])
    # Several pieces, of which some need more than a word; blocks of one piece, of two and of all.
    for block in (1, 1500, 1 << 24):
        check([torch.cat([(torch.arange(1, 1201) / (1201.0 + rank_)).to(dtype), ugly(rng, dtype, 1000),
                          torch.full((3000,), 1.0 + rank_, dtype=dtype), ugly(rng, dtype, 30)]) for rank_ in range(size)], block=block)
    check([torch.full((3,), -0.0, dtype=dtype) for _ in range(size)])

# The order of the ranks does not matter.
parts = [ugly(rng, torch.float64, 100) for _ in range(size)]
one = samesum.distributed.all_reduce_exact(parts[rank].clone())
other = samesum.distributed.all_reduce_exact(parts[size - 1 - rank].clone())
assert torch.equal(one.view(torch.int64), other.view(torch.int64))

for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
    limits = torch.iinfo(dtype)
    tensors = [torch.tensor([rng.randint(limits.min // size + 1, limits.max // size) for _ in range(50)], dtype=dtype) for _ in range(size)]
    right = [sum(column) for column in zip(*(each.tolist() for each in tensors))]
    assert samesum.distributed.all_reduce_exact(tensors[rank], block=20).tolist() == right
    compared += 50
    if size > 1:
        try:
            samesum.distributed.all_reduce_exact(torch.tensor([0, limits.max], dtype=dtype))
            raise SystemExit("the sum does not fit")
        except samesum.NoAnswerError as error:
            assert "fit" in str(error)

if size > 1:  # ranks that do not belong together hear of it, all of them
    for odd in (torch.ones(4), torch.ones(3, dtype=torch.float64), torch.ones(3, 1)):
        mine = odd if rank == 0 else torch.ones(3)
        try:
            samesum.distributed.all_reduce_exact(mine)
            raise SystemExit("the ranks differ")
        except samesum.SamesumError as error:
            assert "shapes or types" in str(error)
        assert bool((mine == 1).all())

group = torch.distributed.new_group(list(range((size + 1) // 2)))
if rank < (size + 1) // 2:
    assert samesum.distributed.all_reduce_exact(torch.tensor([1.0]), group=group).item() == (size + 1) // 2
leaf = torch.tensor([1.5], requires_grad=True)
assert samesum.distributed.all_reduce_exact(leaf).item() == 1.5 * size
torch.distributed.barrier()
torch.distributed.destroy_process_group()
print(f"{compared} compared")
