# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from specgate.descriptors.core import Descriptor, TensorDesc

def ONE_HOT(
    *,
    IndicesTensor: TensorDesc,
    ValuesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
