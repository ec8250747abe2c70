from types import ModuleType

from specgate.descriptors.core import tensor as tensor
from specgate.make import directml as directml
from specgate.make import onnx as onnx
from specgate.make import openvino as openvino

def __getattr__(name: str) -> ModuleType: ...
