"""Servers on one machine do not meet, whoever started them."""

import os
import re
import socket
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from inference.errors import ServerSetupError
from inference.server.port import HOST, ReservedPort
from inference.server.start import Start


@pytest.fixture(autouse=True)
def _nobody_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_PORT", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)


def inner(port: ReservedPort) -> int:
    return int(port.environment["VLLM_PORT"])


def test_each_server_has_a_block_for_its_own_processes_too() -> None:
    ports = [ReservedPort(0) for _ in range(5)]
    starts = sorted(port.number for port in ports)
    assert all(later - earlier >= 64 for earlier, later in pairwise(starts))
    assert all(inner(port) == port.number + 1 for port in ports)
    assert all(10240 <= port.number < 32000 for port in ports), "where the kernel hands out none"
    for port in ports:
        port.release()


def test_a_block_is_free_again_when_its_server_is_gone() -> None:
    first = ReservedPort(0)
    number = first.number
    first.release()
    second = ReservedPort(0)
    assert second.number == number
    second.release()


def test_a_port_is_ours_until_every_share_of_it_is_released() -> None:
    first = ReservedPort(0)
    share = first.share()
    assert (share.number, share.environment) == (first.number, first.environment)
    first.release()
    other = ReservedPort(0)
    assert other.number != share.number
    share.release()
    again = ReservedPort(0)
    assert again.number == share.number
    for port in (other, again):
        port.release()


def test_jobs_on_one_node_begin_to_search_at_places_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for job in ("4711", "4712"):
        monkeypatch.setenv("SLURM_JOB_ID", job)
        port = ReservedPort(0)
        found.append(port.number)
        port.release()
    assert found[0] != found[1]


def test_a_wanted_port_is_kept_and_the_block_is_besides() -> None:
    with socket.socket() as free:
        free.bind((HOST, 0))
        wanted = free.getsockname()[1]
    port = ReservedPort(wanted)
    assert port.number == wanted
    assert inner(port) != wanted + 1
    port.release()


async def test_a_server_is_told_its_ports(tmp_path: Path) -> None:
    told = "import os, sys; print('ports:', sys.argv[1], os.environ['VLLM_PORT'])"
    start = Start(
        command=lambda port: (sys.executable, "-c", told, str(port)),
        environment=dict(os.environ),
        served_name="m",
        question=(1,),
        log=tmp_path / "server.log",
    )
    with pytest.raises(ServerSetupError, match=r"ports: \d+ \d+") as failed:
        await start()
    said = re.search(r"ports: (\d+) (\d+)", str(failed.value))
    assert said
    assert int(said[2]) == int(said[1]) + 1


def test_what_the_user_says_goes_first_and_what_kubernetes_says_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = ReservedPort(0)
    monkeypatch.setenv("VLLM_PORT", "20000")
    assert port.environment == {}
    monkeypatch.setenv("VLLM_PORT", "tcp://10.0.0.1:8000")  # a service that is called vllm
    assert inner(port) == port.number + 1
    port.release()
