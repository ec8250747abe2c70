from specgate.conform.cases import shrink
from specgate.descriptors.core import Descriptor, tensor
from specgate.spec.tables import dialect

LARGE = Descriptor(
    "directml",
    "ONE_HOT",
    {
        "IndicesTensor": tensor("INT64", [2, 7, 1], strides=[7, 1, 1], size_in_bytes=4096, alignment=32, flags=1),
        "ValuesTensor": tensor("UINT16", [3, 1, 5]),
        "OutputTensor": tensor("UINT16", [2, 7, 300]),
        "Axis": 2,
    },
)


def _shrunk(holds):
    items = []

    def same(candidates):
        items.extend(candidates)
        return [bool(holds(candidate.fields)) for candidate in candidates]

    return shrink(LARGE, dialect("directml").operator("ONE_HOT"), same).fields, items


def test_irrelevant_fields_are_removed():
    fields, _ = _shrunk(lambda f: "OutputTensor" in f and f["OutputTensor"].type is not None)
    assert fields == {"OutputTensor": tensor("FLOAT32", [])}


def test_relevant_fields_are_kept():
    fields, _ = _shrunk(lambda f: "IndicesTensor" in f and f["IndicesTensor"].type == "INT64" and f.get("Axis") == 2)
    assert fields == {"IndicesTensor": tensor("INT64", []), "Axis": 2}


def test_numbers_become_as_small_as_they_can():
    fields, _ = _shrunk(lambda f: "OutputTensor" in f and max(f["OutputTensor"].sizes or (0,)) > 100)
    assert fields["OutputTensor"].sizes == (101,)


def test_dimensions_are_removed_from_all_tensors_together():
    def ranks(f):
        return {len(t.sizes) for name, t in f.items() if name.endswith("Tensor")}

    fields, _ = _shrunk(lambda f: len(f) == 4 and len(ranks(f)) == 1 and min(ranks(f)) >= 1)
    assert {name: t.sizes for name, t in fields.items() if name != "Axis"} == dict.fromkeys(
        ("IndicesTensor", "ValuesTensor", "OutputTensor"), (0,)
    )


def test_minimal_descriptor_is_unchanged():
    fields, questions = _shrunk(lambda f: f == LARGE.fields)
    assert fields == LARGE.fields
    assert questions
