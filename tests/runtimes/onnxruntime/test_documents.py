"""`specgate place --descriptors`: lowered nodes as DxDispatch model files."""

from __future__ import annotations

import os

import pytest

from specgate.cli import main
from specgate.dialects.directml.dxdispatch.read import read_dx_model
from specgate.runtimes.onnxruntime.documents import write_documents
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx, relu

DML = "onnxruntime-directml:1.24.4"


def node(operator, inputs, output, name, **more):
    return helper.make_node(operator, inputs, [output], name=name, **more)


def save_model(tmp_path, nodes, inputs, initializers=()):
    path = tmp_path / "m.onnx"
    onnx.save(model(graph(nodes, inputs, [info(nodes[-1].output[0], None)], list(initializers))), path)
    return str(path)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path):
    """Nodes with equal safe names, two operators, one on the CPU, one without operator."""
    nodes = [
        relu("x", "a", name="a/b"),
        relu("a", "b", name="a:b"),
        node("Det", ["b"], "c", "det"),
        node("Shape", ["b"], "d", "shape"),
        node("Gemm", ["x", "x"], "e", "gemm"),
        node("Flatten", ["x"], "f", "flatten"),
    ]
    return save_model(tmp_path, nodes, [info("x", [2, 2])])


def run(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_check_and_run_accept_the_file_of_each_lowered_node(path, tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    code, out, err = run(capsys, "place", path, "-t", DML, "--descriptors", str(folder))
    assert (code, err) == (0, "")
    onnx_model = files(folder)
    assert onnx_model[:2] == ["graph_a_b-2.json", "graph_a_b.json"]
    assert out.splitlines()[-1].startswith(f"{len(onnx_model)} files written to {folder}; of the other nodes ")
    assert "1 on CPU" in out.splitlines()[-1]
    for file in onnx_model:
        code, out, _ = run(capsys, "check", str(folder / file), "-t", "directml:6.4")
        assert (code, out.split()[0]) == (0, "accepted")
        code, out, _ = run(capsys, "run", str(folder / file))
        assert code == 0
        assert "OutputTensor': 0, 0, 0, 0" in out


def test_a_file_names_its_node_and_target(path, tmp_path, capsys):
    run(capsys, "place", path, "-t", DML, "--descriptors", str(tmp_path), "--node", "gemm")
    first, second, *_ = (tmp_path / "graph_gemm.json").read_text(encoding="utf-8").splitlines()
    assert first == f"// graph/gemm (Gemm-13) as created by {DML}."
    assert second.startswith("// The descriptors are in creation order")


def test_only_named_nodes_are_written(path, tmp_path, capsys):
    folder = tmp_path / "d"
    _, out, _ = run(capsys, "place", path, "-t", DML, "--descriptors", str(folder), "--node", "gemm", "--node", "det")
    assert files(folder) == ["graph_gemm.json"]
    assert out.splitlines()[-1] == f"1 file written to {folder}; of the other nodes 1 on CPU"
    _, out, _ = run(capsys, "place", path, "-t", DML, "--descriptors", str(folder), "--node", "graph/a/b")
    assert files(folder) == ["graph_a_b.json", "graph_gemm.json"]


def test_other_formats_stay_complete(path, tmp_path, capsys):
    arguments = ("place", path, "-t", DML, "--format", "json")
    whole = run(capsys, *arguments)[1]
    _, out, err = run(capsys, *arguments, "--descriptors", str(tmp_path / "d"))
    assert out == whole
    assert " files written to " in err


def test_buffers_have_the_byte_size_of_their_tensors(tmp_path, capsys):
    small = helper.make_tensor("w", FLOAT, [2], [1.0, 2.0])
    path = save_model(tmp_path, [node("Add", ["x", "w"], "y", "add")], [info("x", [3, 2])], [small])
    run(capsys, "place", path, "-t", DML, "--descriptors", str(tmp_path / "d"))
    dx_model = read_dx_model(tmp_path / "d" / "graph_add.json")
    (descriptor,) = (dispatchable.descriptor for dispatchable in dx_model.dispatchables.values())
    assert descriptor is not None
    assert descriptor.fields["BTensor"].strides is not None  # two elements, read three times
    counts = {name.partition(".")[2]: resource.initial["valueCount"] for name, resource in dx_model.resources.items()}
    assert counts == {"ATensor": 6, "BTensor": 2, "OutputTensor": 6}


def test_lists_of_tensors_and_several_operators(tmp_path, capsys):
    pads = helper.make_tensor("s", INT64, [2], [1, 3])
    nodes = [
        helper.make_node("Split", ["x", "s"], ["a", "b"], name="split"),
        node("Concat", ["a", "b"], "c", "concat", axis=0),
        node("Mean", ["c", "x", "c"], "y", "mean"),
    ]
    path = save_model(tmp_path, nodes, [info("x", [4, 2])], [pads])
    run(capsys, "place", path, "-t", DML, "--descriptors", str(tmp_path / "d"))
    joined = read_dx_model(tmp_path / "d" / "graph_concat.json")
    assert [name for name in joined.resources if "InputTensors" in name] == [
        "join.InputTensors[0]",
        "join.InputTensors[1]",
    ]
    several = read_dx_model(tmp_path / "d" / "graph_mean.json")
    assert len(several.dispatchables) > 1
    assert [text.partition("-")[0] for text in several.dispatchables] == [
        str(index) for index in range(len(several.dispatchables))
    ]
    for file in files(tmp_path / "d"):
        assert run(capsys, "run", str(tmp_path / "d" / file))[0] == 0


def test_files_of_rejected_operators_state_the_rejection(tmp_path, capsys):
    path = save_model(tmp_path, [node("Softmax", ["x"], "y", "softmax")], [info("x", [2, 3])])
    code, _, _ = run(capsys, "place", path, "-t", f"{DML}@5.0", "--descriptors", str(tmp_path / "d"))
    (file,) = files(tmp_path / "d")
    assert code == 1
    assert "// Its kernel fails: placed, but CreateOperator rejects" in (tmp_path / "d" / file).read_text("utf-8")
    assert run(capsys, "check", str(tmp_path / "d" / file), "-t", "directml:5.0")[0] == 1


def test_file_names_stay_inside_the_folder(tmp_path, capsys):
    names = ["../../../etc/x", "a\n// b", "\u202e", "n" * 400, "CON", ""]
    nodes = [relu("x" if not at else f"v{at - 1}", f"v{at}", name=name) for at, name in enumerate(names)]
    path = save_model(tmp_path, nodes, [info("x", [2])])
    folder = tmp_path / "d"
    assert run(capsys, "place", path, "-t", DML, "--descriptors", str(folder))[0] == 0
    assert len(files(folder)) == len(names)
    assert files(tmp_path) == ["d", "m.onnx"]
    for file in files(folder):
        assert len(file) < 200
        assert set(file) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
        assert run(capsys, "check", str(folder / file), "-t", "directml:6.4")[0] == 0


def test_a_folder_that_is_a_file_is_rejected(path, tmp_path, capsys):
    for place in (path, f"{path}/inside", "a\0b"):
        code, out, err = run(capsys, "place", path, "-t", DML, "--descriptors", place)
        assert (code, out) == (2, "")
        assert "expected a folder to write to" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
def test_existing_files_prevent_writing(path, tmp_path, capsys):
    folder = tmp_path / "d"
    folder.mkdir()
    os.mkfifo(folder / "graph_gemm.json")
    code, _, err = run(capsys, "place", path, "-t", DML, "--descriptors", str(folder))
    assert (code, files(folder)) == (2, ["graph_gemm.json"])
    assert "expected a regular file to replace" in err
    (folder / "graph_gemm.json").unlink()
    target = tmp_path / "other.json"
    target.write_text("kept")
    for link in (os.devnull, target, tmp_path / "missing.json"):
        (folder / "graph_gemm.json").symlink_to(link)
        assert run(capsys, "place", path, "-t", DML, "--descriptors", str(folder))[0] == 2
        (folder / "graph_gemm.json").unlink()
    assert (target.read_text(), (tmp_path / "missing.json").exists()) == ("kept", False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", DML, "--node", "gemm"], "--node requires --descriptors DIR"),
        (["-t", DML, "--node", "gem", "--descriptors", "DIR"], "no node 'gem' among those placed; did you mean"),
        (["-t", "onnxruntime:1.24.4", "--descriptors", "DIR"], "does not create DirectML operators"),
    ],
)
def test_unusable_options(path, tmp_path, capsys, arguments, message):
    folder = str(tmp_path / "d")
    code, out, err = run(capsys, "place", path, *(folder if item == "DIR" else item for item in arguments))
    assert (code, out, (tmp_path / "d").exists()) == (2, "", False)
    assert message in err


def test_tensors_too_large_for_a_buffer_are_counted(path, tmp_path):
    import specgate
    from specgate import make
    from specgate.descriptors.core import Descriptor

    placement = specgate.place(path, DML)
    huge = make.tensor("FLOAT32", [2**31, 4])
    placement.nodes[0].lowered = (
        Descriptor("directml", "ACTIVATION_RELU", {"InputTensor": huge, "OutputTensor": huge}),
    )
    written = write_documents(placement, "directml", str(tmp_path / "d"), ["a/b"])
    assert written.files == ()
    assert written.left == (("with tensors that do not fit into a buffer", 1),)
