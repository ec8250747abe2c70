"""ONNX Runtime on the CPU as placement oracle: installed and other releases."""

from __future__ import annotations

import importlib.util

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle import cpu
from specgate.runtimes.onnxruntime.oracle.cpu import CpuPlacementOracle, cpu_releases, install_cpu
from specgate.runtimes.onnxruntime.oracle.oracle import Placed

numpy = pytest.importorskip("numpy", reason="NO MODEL IS RUN: numpy is not installed")
onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
INSTALLED = importlib.util.find_spec("onnxruntime") is not None
needs_runtime = pytest.mark.skipif(not INSTALLED, reason="NO SESSION IS CREATED: onnxruntime is not installed")


def model(op_type, kind, opset=18, domain=""):
    helper = onnx.helper
    x, y = (helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"], name="n", domain=domain)], "g", [x], [y])
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


@pytest.fixture(scope="module")
def oracle():
    with CpuPlacementOracle() as onnx_model:
        yield onnx_model


@needs_runtime
@pytest.mark.oracle
def test_a_node_with_a_kernel(oracle):
    answer = oracle.ask([model("Relu", "FLOAT")])[0]
    assert (answer.session, answer.nodes) == ("created", (Placed("n", "Relu", "CPU"),))


@needs_runtime
@pytest.mark.oracle
def test_a_node_without_a_kernel_is_not_implemented(oracle):
    answer = oracle.ask([model("Neg", "BFLOAT16", 13)])[0]
    assert (answer.word, answer.code) == ("fails", 9)
    assert "Neg(13)" in answer.error


@needs_runtime
@pytest.mark.oracle
def test_functions_are_logged_as_their_nodes(oracle):
    answer = oracle.ask([model("HardSwish", "FLOAT", 14)])[0]
    assert [node.op_type for node in answer.nodes] == ["HardSigmoid", "Mul"]


@needs_runtime
@pytest.mark.oracle
def test_invalid_models_and_unknown_operators_fail(oracle):
    garbage, unknown = oracle.ask([b"garbage", model("Nothing", "FLOAT")])
    assert (garbage.word, garbage.code) == ("fails", 7)
    assert (unknown.word, "Nothing" in unknown.error) == ("fails", True)
    assert oracle.ask([model("Relu", "FLOAT")])[0].session == "created"


@pytest.fixture(scope="module")
def running():
    with CpuPlacementOracle(run=True, timeout=20) as onnx_model:
        yield onnx_model


@needs_runtime
@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["FLOAT", "BFLOAT16", "STRING", "FLOAT8E5M2", "BOOL"])
def test_a_session_runs_with_inputs_of_its_types(running, kind):
    answer = running.ask([model("Identity", kind, 19)])[0]
    assert (answer.session, answer.run) == ("created", "ran")


@needs_runtime
@pytest.mark.oracle
def test_a_failed_run_reports_the_reason(running):
    helper, proto = onnx.helper, onnx.TensorProto
    x, s, y = (
        helper.make_tensor_value_info(*each)
        for each in [("x", proto.FLOAT, [2, 3]), ("s", proto.INT64, [1]), ("y", proto.FLOAT, None)]
    )
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "s"], ["y"])], "g", [x, s], [y])
    onnx_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
    failed = running.ask([onnx_model])[0]
    assert failed.session == "created"
    assert "cannot be reshaped" in failed.run
    assert running.ask([onnx_model], [[{"s": numpy.array([5])}, {"s": numpy.array([6])}]])[0].run == "ran"


@needs_runtime
@pytest.mark.oracle
def test_a_session_does_not_run_by_default(oracle):
    assert oracle.ask([model("Relu", "FLOAT")])[0].run == ""


class Dying:
    """A process that reports its previous end, and after some times a session."""

    def __init__(self, *words):
        self.words = list(words)

    def ask(self, _):
        return self.words.pop(0) if self.words else (0, "", [("n", "Relu")], 0.0, "")

    def close(self):
        pass


@pytest.mark.parametrize(
    ("words", "session"),
    [(["crashed"], "created"), (["crashed", "crashed"], "crashed"), (["timeout", "timeout"], "timeout")],
)
@needs_runtime
def test_a_lost_process_is_retried_once(words, session):
    with CpuPlacementOracle() as onnx_model:
        onnx_model._child = Dying(*words)  # type: ignore[assignment]
        assert onnx_model.ask([b""])[0].session == session


def test_a_missing_release_names_the_install_command(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"1\.2\.3 is not installed; try specgate oracle install .* --release 1\.2\.3"):
        CpuPlacementOracle("1.2.3")


@pytest.mark.parametrize("release", ["../x", "1.2/3", "a b"])
def test_a_path_is_not_accepted_as_a_release(release, tmp_path, monkeypatch):
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="expected a release"):
        install_cpu(release, progress=lambda _: None)
    assert list(tmp_path.rglob("*")) == []


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Record commands without running them.

    The first command with a word of `broken` fails.
    """
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    ran: list[list[str]] = []
    broken: list[str] = []

    def run(command, what):
        ran.append(command)
        wrong = [word for word in broken if word in what]
        if wrong:
            broken.remove(wrong[0])
            raise InputError(f"{what}: it failed")

    monkeypatch.setattr(cpu, "run_program", run)
    return ran, broken


def test_a_release_is_fetched_without_dependencies(programs):
    ran, _ = programs
    install_cpu("1.2.3", progress=lambda _: None)
    assert [word for word in ran[0] if word in {"--no-deps", "--only-binary=:all:", "onnxruntime==1.2.3"}] == [
        "onnxruntime==1.2.3",
        "--no-deps",
        "--only-binary=:all:",
    ]
    assert len(ran) == 2  # then it was imported
    assert "1.2.3" in cpu_releases()
    install_cpu("1.2.3", progress=lambda _: None)
    assert len(ran) == 2


def test_a_wheel_for_an_older_numpy_installs_it(programs):
    ran, broken = programs
    broken.append("importing")
    install_cpu("1.2.3", progress=lambda _: None)
    assert [command[4] for command in ran if "pip" in command] == ["onnxruntime==1.2.3", "numpy<2"]


@pytest.mark.slow
def test_a_failed_fetch_installs_no_release(programs):
    _, broken = programs
    broken.append("fetching")
    with pytest.raises(InputError, match="failed"):
        install_cpu("1.2.3", progress=lambda _: None)
    assert "1.2.3" not in cpu_releases()
