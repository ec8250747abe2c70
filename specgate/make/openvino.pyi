# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from specgate.descriptors.core import Descriptor, TensorDesc

def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    on_value: TensorDesc,
    off_value: TensorDesc,
    output: TensorDesc | None = None,
    axis: int,
    negative_indices_mode: str | None = None,
) -> Descriptor: ...
