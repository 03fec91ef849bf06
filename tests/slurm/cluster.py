"""A Slurm cluster of three nodes and two pretended GPUs on this machine, without systemd, cgroups or a database.

The daemons are Debian's. Their configuration is in ``/etc/slurm``, since Snakemake's plugin for jobs drops the variable
that could name another place: there can be one such cluster at a time, and none where Slurm is configured already.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
CONFIGURED = Path("/etc/slurm")
NODES = ("n1", "n2", "n3")
# Without cgroups memory is measured in /proc once a second; a job beyond what it asked for is killed. A lost node
# counts as lost soon (SlurmdTimeout), squeue knows finished jobs for as long as tests take (MinJobAge), and jobs go to
# n2 rather than to n1 (Weight).
SLURM = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill,UsePss
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0,bf_interval=2
SlurmdTimeout=8
SlurmctldTimeout=15
InactiveLimit=0
KillWait=10
MinJobAge=3600
NodeName=DEFAULT CPUs=8 RealMemory=64000 State=UNKNOWN
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 Weight=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17002 Weight=1
NodeName=n3 NodeHostname={host} NodeAddr=127.0.0.1 Port=17003 Gres=gpu:a100:2
PartitionName=cpu Nodes=n1,n2 Default=YES MaxTime=1440 State=UP
PartitionName=gpu Nodes=n3 MaxTime=1440 State=UP
"""
GPUS = """
NodeName=n3 Name=gpu Type=a100 File=/dev/null
NodeName=n3 Name=gpu Type=a100 File=/dev/zero
"""
CONFIGURATION = {"slurm.conf": SLURM, "gres.conf": GPUS}


def run(*command: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(["timeout", "60", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def processes(*texts: str) -> list[psutil.Process]:
    """The running processes that have one of these texts in their command line."""
    running = psutil.process_iter(["cmdline"])
    return [each for each in running if any(text in " ".join(each.info["cmdline"] or []) for text in texts)]


def obstacle() -> str | None:
    """Why there can be no such cluster here; Debian's packages are installed where they are missing."""
    if os.geteuid() != 0:
        return "only root can start the daemons"
    if not (shutil.which("slurmctld") and shutil.which("slurmd") and shutil.which("munged")):
        if not shutil.which("apt-get"):
            return f"the programs of {', '.join(PACKAGES)} are missing, and there is no apt-get"
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(["apt-get", *command], env=environment, capture_output=True, timeout=300, check=False)
        if not shutil.which("slurmctld"):
            return f"apt-get could not install {', '.join(PACKAGES)}"
    if (CONFIGURED / "slurm.conf").exists():
        return f"Slurm is configured here already ({CONFIGURED}/slurm.conf)"
    return None


class Cluster:
    """The running cluster; its files are in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def configure(self) -> None:
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        for name, content in CONFIGURATION.items():
            (self.folder / name).write_text(content.format(folder=self.folder, host=socket.gethostname()))
            link = CONFIGURED / name
            link.unlink(missing_ok=True)  # one that leads nowhere: tests were killed
            link.symlink_to(self.folder / name)

    def start(self) -> None:
        self.configure()
        files = {name: f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "seed", "pid", "log")}
        run("munged", "--force", f"--socket={self.folder}/munge.socket", *files.values())
        run("slurmctld")
        run("sh", "-c", "until scontrol ping | grep -q UP; do sleep 0.1; done")  # nodes that come earlier wait for long
        for node in NODES:
            self.start_node(node)
        self.wait_for_nodes()

    def start_node(self, node: str) -> None:
        run("slurmd", "-N", node)

    def wait_for_nodes(self, seconds: float = 60) -> None:
        """Wait until all nodes are up, idle or at work."""
        end = time.monotonic() + seconds
        while run("sinfo", "-h", "-N", "-t", "idle,mixed,alloc", "-o", "%N").split() != sorted(NODES):
            assert time.monotonic() < end, run("sinfo", "-N") + (self.folder / "slurmctld.log").read_text()[-3000:]
            time.sleep(0.1)

    def kill_node(self, node: str) -> list[psutil.Process]:
        """The daemon of a node and all that it started, killed like a machine that loses power."""
        sockets = (self.folder / f"spool-{node}").glob(f"{node}_*.*")  # <node>_<job>.<step>
        steps = processes(*{f"slurmstepd: [{socket.stem.split('_')[1]}." for socket in sockets})
        started = [child for step in steps for child in step.children(recursive=True)]
        doomed = [*self.daemon(f"slurmd-{node}"), *steps, *started]
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return doomed

    def daemon(self, name: str) -> list[psutil.Process]:
        """The running daemon that has left its id in ``<name>.pid``, or nothing; the file is removed."""
        file = self.folder / f"{name}.pid"
        try:
            return [psutil.Process(int(file.read_text()))]
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
            return []
        finally:
            file.unlink(missing_ok=True)

    def stop(self) -> None:
        """End all jobs and daemons."""
        for node in NODES:
            self.kill_node(node)
        for daemon in (*self.daemon("slurmctld"), *self.daemon("munge")):
            daemon.terminate()
            daemon.wait(30)
        for name in CONFIGURATION:
            (CONFIGURED / name).unlink(missing_ok=True)
