"""Values without an installation: protocol, failing hosts, masks, replies."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.oracle import builds, values
from specgate.dialects.directml.oracle import oracle as directml
from specgate.dialects.directml.oracle.cases import bound_tensors
from specgate.dialects.directml.oracle.install import COMPILE, run_program
from specgate.dialects.directml.oracle.values import (
    FILL_BYTES,
    Compiled,
    FailedQuestion,
    ValuesOracle,
    ValuesProcess,
    compile_question,
)
from specgate.dialects.directml.oracle.values_environment import HOST, WineEnvironment
from specgate.errors import InputError
from specgate.oracles.protocol import Reply
from specgate.workers.piped import WorkerLost
from tests.fake_hosts import start, write_host

#: A Python host that adds 1 to each byte of the first input, up to the output's size. `WORDS` makes it fail: by the
#: number of processes started so far, its behaviour for a question of a kind (1 compile, 2 dispatch).
FAKE_HOST = """
    WORDS = {WORDS}
    sizes, outputs, asked = [], 0, 0
    while True:
        kind, = struct.unpack("<I", take(4))
        asked += kind == 2
        word = WORDS.get((turn, kind)) or WORDS.get((turn, kind, asked)) or WORDS.get(kind)
        misbehave(word)
        if kind == 1:
            size, pointers, root, inputs, outputs = struct.unpack("<IIIII", take(20))
            take(4 * pointers + size)
            sizes = [struct.unpack("<QQ", take(16))[0] for _ in range(inputs + outputs)]
            stage, code = word or (0, 0)
            os.write(1, struct.pack("<IIIIQQ", stage, code, 3, 0, 64, 128))
        else:
            fill, = struct.unpack("<I", take(4))
            total = sum(sizes[:len(sizes) - outputs])
            data = take(total)
            stage, code = word or (0, 0)
            os.write(1, struct.pack("<II", stage, code))
            if not stage:
                made = bytes((b + 1) & 255 for b in data[:sizes[0]])
                size = sum(sizes[len(sizes) - outputs:])
                os.write(1, (made + bytes([fill]) * size)[:size])
"""


class FakePlace(WineEnvironment):
    def values_command(self, level):
        return [sys.executable, str(self.folder / "SGDV.py")]

    def environment(self, prefix=None):
        return {}


@pytest.fixture
def fake_place(tmp_path, monkeypatch):
    """Return an environment whose host is a Python script."""

    def make(words=None):
        write_host(tmp_path, FAKE_HOST, b"SGDV", 0x6400, WORDS=words or {})
        place = FakePlace(tmp_path, str(tmp_path), None, "")
        monkeypatch.setattr(values, "ready_place", lambda _: place)
        return place

    return make


def identity(**output):
    sizes = {"DataType": "UINT32", "Sizes": [3]}
    return {
        "type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY",
        "desc": {"InputTensor": sizes, "OutputTensor": sizes | output},
    }


ARRAYS = {"InputTensor": np.array([1, 2, 3], np.uint32)}
PLUS_ONE = [0x01010102, 0x01010103, 0x01010104]


def bind(descriptor):
    fields = descriptor["desc"]
    return [bound_tensors("ELEMENT_WISE_IDENTITY", fields, kind) for kind in ("input", "output")]


def test_compile_request_matches_the_host_format():
    inputs, outputs = bind(identity())
    new_image = image(identity())
    data = compile_question(new_image, inputs, outputs)
    assert struct.unpack_from("<6I", data) == (1, len(new_image.data), len(new_image.pointers), new_image.root, 1, 1)
    assert data[24 + 4 * len(new_image.pointers) :] == new_image.data + struct.pack("<4Q", 12, 0, 12, 0)
    assert struct.unpack_from(f"<{len(new_image.pointers)}I", data, 24) == new_image.pointers


def test_omitted_tensor_and_owned_tensor():
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
    fields = {"ATensor": tensor, "BTensor": tensor | {"Flags": ["OWNED_BY_DML"]}, "OutputTensor": tensor}
    inputs = bound_tensors("GEMM", fields, "input")
    assert [(each.field, each.size, each.owned) for each in inputs] == [
        ("ATensor", 16, False),
        ("BTensor", 16, True),
        ("CTensor", 0, False),
    ]


def test_a_process_compiles_and_dispatches(fake_place):
    process = ValuesProcess(fake_place(), "6.4")
    try:
        inputs, outputs = bind(identity())
        assert process.compile(image(identity()), inputs, outputs, 10) == Compiled(3, 64, 128)
        assert process.dispatch(bytes(range(12)), 0, 12, 10) == bytes(range(1, 13))
        with pytest.raises(InputError, match="expected a byte"):
            process.dispatch(bytes(12), 256, 12, 10)
    finally:
        process.close()


@pytest.mark.parametrize(("word", "end"), [("die", "crashed"), ("babble", "crashed"), ("hang", "timeout")])
def test_lost_process_reports_the_cause(fake_place, word, end):
    process = ValuesProcess(fake_place({1: word}), "6.4")
    inputs, outputs = bind(identity())
    try:
        with pytest.raises(WorkerLost) as caught:
            process.compile(image(identity()), inputs, outputs, 10 if end == "crashed" else 0.3)
        assert caught.value.word == end
    finally:
        process.close()


def test_values_are_named_and_unwritten_elements_masked(fake_place, tmp_path):
    fake_place()
    with ValuesOracle("6.4") as oracle:
        assert oracle.run(identity(), ARRAYS)["OutputTensor"].tolist() == PLUS_ONE
        longer = identity(Sizes=[5])
        tables = oracle.run_many(longer, [ARRAYS, ARRAYS])
        assert [each["OutputTensor"].tolist() for each in tables] == [[*PLUS_ONE, None, None]] * 2
        assert start(tmp_path) == 1
    with pytest.raises(InputError, match="the oracle is closed"):
        oracle.run(identity(), ARRAYS)


def test_input_gaps_are_filled_like_outputs(fake_place):
    fake_place()
    descriptor = identity()
    descriptor["desc"]["InputTensor"] = {"DataType": "UINT32", "Sizes": [2], "Strides": [2]}
    with ValuesOracle("6.4") as oracle:
        result = oracle.run(descriptor, {"InputTensor": np.array([1, 2], np.uint32)})["OutputTensor"]
    assert result.tolist() == [PLUS_ONE[0], None, PLUS_ONE[1]]
    assert FILL_BYTES[0] ^ FILL_BYTES[1] == 0xFF


@pytest.mark.parametrize(
    ("words", "reply", "processes"),
    [
        ({1: (1, 0x80070057)}, Reply("rejected", "CreateOperator: 0x80070057"), 1),
        ({1: (2, 0x80004005)}, Reply("no kernel", "CompileOperator: 0x80004005"), 1),
        ({2: (5, 0x887A0005)}, Reply("no kernel", "the dispatch: 0x887A0005"), 1),
        ({1: "die"}, Reply("crashed", "its process"), 1),
        ({2: "die"}, Reply("crashed", "its process"), 1),
        ({2: "hang"}, Reply("timeout", "its process"), 1),
    ],
)
def test_failure_in_a_new_process_is_final(fake_place, tmp_path, words, reply, processes):
    fake_place(words)
    with ValuesOracle("6.4", timeout=1.0) as oracle:
        assert oracle.values(identity(), ARRAYS) == (None, reply)
        assert start(tmp_path) == processes
        with pytest.raises(InputError, match=f"DirectML 6.4 computed nothing: {reply.word}, "):
            oracle.run(identity(), ARRAYS)


def test_failure_in_a_reused_process_is_retried(fake_place, tmp_path):
    fake_place({(1, 2, 3): "die"})  # the first process dies at its third dispatch, which is the second case's
    with ValuesOracle("6.4") as oracle:
        result = oracle.compute_many(identity(), [ARRAYS] * 3)
        assert [each.reply.word for each in result] == ["accepted"] * 3
        assert start(tmp_path) == 2


def test_failing_case_does_not_affect_other_cases(fake_place):
    fake_place({(1, 2, 3): "die", (2, 2, 1): "die"})
    with ValuesOracle("6.4") as oracle:
        result = oracle.compute_many(identity(), [ARRAYS] * 3)
    assert [each.reply.word for each in result] == ["accepted", "crashed", "accepted"]


def test_rejected_operator_is_rejected_for_all_cases(fake_place, tmp_path):
    fake_place({1: (1, 0x80070057)})
    with ValuesOracle("6.4") as oracle:
        assert [each.reply.word for each in oracle.compute_many(identity(), [ARRAYS] * 3)] == ["rejected"] * 3
        assert start(tmp_path) == 1


def test_process_is_restarted_after_many_compilations(fake_place, tmp_path, monkeypatch):
    fake_place()
    monkeypatch.setattr(values, "_MAX_COMPILED", 2)
    with ValuesOracle("6.4") as oracle:
        for _ in range(5):
            oracle.run(identity(), ARRAYS)
    assert start(tmp_path) == 3


def test_mismatched_arrays_are_rejected_before_the_query(fake_place):
    fake_place({1: "die"})
    with ValuesOracle("6.4") as oracle:
        with pytest.raises(InputError, match="InputTensor: expected the shape"):
            oracle.run(identity(), {"InputTensor": np.zeros(4, np.uint32)})
        with pytest.raises(InputError, match="no array for this input"):
            oracle.run(identity(), {})
        with pytest.raises(InputError, match="'Other' is not an input"):
            oracle.run(identity(), {**ARRAYS, "Other": np.zeros(1)})


def test_host_of_another_level_is_rejected(fake_place):
    fake_place()
    with pytest.raises(InputError, match=r"expected a device of level 6\.3, found 0x6400"):
        ValuesOracle("6.3")


def test_verdict_oracle_forwards_values(monkeypatch, fake_oracle, fake_place):
    fake_place()
    monkeypatch.setattr(directml, "ValuesOracle", lambda _: ValuesOracle("6.4"))
    with fake_oracle({}) as oracle:
        assert oracle._values is None
        assert oracle.run(identity(), ARRAYS)["OutputTensor"].tolist() == PLUS_ONE
        assert len(oracle.run_many(identity(), [ARRAYS] * 2)) == 2
        assert oracle.values(identity(), ARRAYS).reply == Reply("accepted")
    assert isinstance(oracle, directml.DirectMLOracle)
    with pytest.raises(InputError, match="the oracle is closed"):
        oracle.run(identity(), ARRAYS)


def test_failure_message_is_readable():
    assert str(FailedQuestion("CompileOperator", 0x80004005)) == "CompileOperator: 0x80004005"


@pytest.mark.slow
@pytest.mark.skipif(
    builds.compiler("windows").path is None, reason="NO HOST IS COMPILED: " + builds.compiler("windows").advice
)
def test_the_host_compiles_without_warnings(tmp_path):
    for sources, target, options in HOST:
        words = [str(builds.compiler("windows").path), *COMPILE, "-Werror", "-o", str(tmp_path / target)]
        run_program([*words, *(str(builds.source(name)) for name in sources.split()), *options], "compiling")
    assert Path(tmp_path / "values.exe").stat().st_size > 10_000
