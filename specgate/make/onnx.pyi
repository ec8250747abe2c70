# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from specgate.descriptors.core import Descriptor, TensorDesc

def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    values: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
