"""A Slurm of one node, made of the real daemons in a temporary folder, on loopback ports.

What its commands print is all that is known of it: the tests ask nothing of submitit that a user
could not ask. `scontrol` gives what `sacct` would, since there is no accounting.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "srun")
SBIN = "/usr/sbin:/sbin"  # where Debian has the daemons, and a user's PATH may not look

USER_SIGNAL = "SlurmctldParameters=preempt_send_user_signal"

CONF = """\
ClusterName=loop
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={d_port}
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=2,requeue_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=5
MinJobAge=3600
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname={host} CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=localhost Default=YES MaxTime=INFINITE State=UP PriorityTier=1 \
PreemptMode=REQUEUE GraceTime=10
PartitionName=high Nodes=localhost MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""

SACCT = """\
#!/bin/sh
# Stands for sacct where there is no accounting: the same columns, from the controller's memory.
# A job that is sent a signal runs: sacct knows no such state; submitit would take it for an end.
echo 'JobID|State|NodeList'
scontrol -o show job | sed -nE \\
  -e 's/ JobState=SIGNALING / JobState=RUNNING /' \\
  -e 's/^JobId=\\w+ ArrayJobId=(\\w+) ArrayTaskId=([0-9]+) .* JobState=(\\w+) .*/\\1_\\2|\\3|/p' \\
  -e 's/^JobId=([0-9]+) JobName=.* JobState=(\\w+) .*/\\1|\\2|/p'
"""


def missing() -> list[str]:
    """Programs of Slurm's that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The daemons that run, and where they listen."""

    folder: Path

    @classmethod
    def start(cls, folder: Path, cpus: int) -> "Cluster":
        """Start them; raises `RuntimeError` with their last words if no node comes up."""
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir()
        ports = _free_ports(2)
        (folder / "slurm.conf").write_text(
            CONF.format(
                folder=folder,
                ctld_port=ports[0],
                d_port=ports[1],
                host=socket.gethostname(),
                cpus=cpus,
            )
        )
        (folder / "bin" / "sacct").write_text(SACCT)
        (folder / "bin" / "sacct").chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        cluster = cls(folder=folder)
        try:
            cluster.call(
                *("munged", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket"),
                *(f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log"),
                *(f"--seed-file={folder}/munge.seed", "--num-threads=2"),
            )
            cluster.call("slurmctld", "-c")
            cluster.call("slurmd")
            wait_for(lambda: "State=IDLE" in cluster.call("scontrol", "show", "node"), 30)
        except (subprocess.CalledProcessError, TimeoutError) as error:
            cluster.stop()
            said = "".join(path.read_text()[-500:] for path in sorted(folder.glob("*.log")))
            raise RuntimeError(f"{error}: {said}") from error
        return cluster

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs to speak to this cluster."""
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder}/bin:{_path()}",
        }

    def call(self, *words: str) -> str:
        """A command of Slurm's, to its end."""
        answer = subprocess.run(
            words,
            capture_output=True,
            text=True,
            env={**os.environ, **self.variables},
            timeout=60,
            check=True,
        )
        return answer.stdout

    def jobs(self) -> dict[str, dict[str, str]]:
        """Every job ever submitted, by its name: the fields of `scontrol show job`.

        One that is being sent a signal runs.
        """
        found = {}
        for line in self.call("scontrol", "-o", "show", "job").splitlines():
            fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
            if "JobId" not in fields:
                continue
            if fields["JobState"] == "SIGNALING":
                fields["JobState"] = "RUNNING"
            name = fields["JobId"]
            if "ArrayTaskId" in fields:
                name = f"{fields['ArrayJobId']}_{fields['ArrayTaskId']}"
            found[name] = fields
        return found

    def hurry(self, jobs: Callable[[], dict[str, dict[str, str]]]) -> None:
        """Wait until these are requeued, and start them soon: munge's credentials, which may not be
        used twice, make Slurm wait for eleven seconds and more. Not at once: in the second in which
        a job was killed its node refuses to launch it, and it counts as failed.
        """

        def requeued(state: str) -> list[str]:
            return [name for name, job in jobs().items() if job["JobState"] == state]

        wait_for(lambda: not requeued("RUNNING") and not requeued("COMPLETING"), 60)
        for name in requeued("PENDING"):
            self.call("scontrol", "update", f"JobId={name}", "StartTime=now+2")

    def announce_preemption(self, *, by_user_signal: bool) -> None:
        """Whether a job is sent the signal that it asked for, or SIGTERM as without this option."""
        path = self.folder / "slurm.conf"
        text = path.read_text().replace(f"\n{USER_SIGNAL}\n", "\n")
        path.write_text(f"{text}{USER_SIGNAL}\n" if by_user_signal else text)
        self.call("scontrol", "reconfigure")

    def stop(self) -> None:
        """End every job and every daemon."""
        with suppress(subprocess.SubprocessError):
            self.call("scancel", "--user=root", "--signal=KILL", "--full")
            self.call("scancel", "--user=root")
        pids = []
        for name in ("slurmd", "slurmctld", "munged"):
            with suppress(OSError, ValueError):
                pids.append(int((self.folder / f"{name}.pid").read_text()))
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        with suppress(TimeoutError):
            wait_for(lambda: not any(_alive(pid) for pid in pids), 15)
        # What runs a step tells the controller of its end, again and again if that one is gone.
        for pid in (*pids, *self._steps()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _steps(self) -> list[int]:
        """Processes that write to this cluster's log."""
        found = []
        for handles in Path("/proc").glob("[0-9]*/fd"):
            with suppress(OSError):
                names = {os.readlink(handle) for handle in handles.iterdir()}
                if str(self.folder / "slurmd.log") in names:
                    found.append(int(handles.parent.name))
        return found


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    """Return as soon as it holds.

    Raises:
        TimeoutError: it did not within so many seconds.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"nothing within {seconds} s")
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _path() -> str:
    return f"{os.environ['PATH']}:{SBIN}"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        with closing(each):
            pass
    return ports
