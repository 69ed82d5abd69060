#!/usr/bin/env python3
"""Starts compose.yaml for real, with the paced server in an image made on the spot.

It runs in network, process and mount namespaces of its own, so no firewall rule, bridge, process or
mount of the machine is touched, and compares them before and after all the same. Health timers
need systemd, which such a machine may lack: a thread asks podman for every health check instead.

Where podman cannot run, the tests are skipped, and the summary counts them so.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

# The checkout stays as it is.
sys.dont_write_bytecode = True
from topology import (COMPOSE, HERE, PATIENCE_S, PROJECT, ROOT, Lab, container, raise_loopback, run,
                      wait_until)  # fmt: skip  # noqa: E402

INSIDE = "--inside"
TOOLS = ["podman", "docker-compose", "podman-compose", "netavark", "aardvark-dns", "runc", "unshare", "nft"]
FOLDERS = "/usr/lib/podman:/usr/libexec/podman:/usr/sbin:/sbin"


def main() -> None:
    if sys.argv[1:2] == [INSIDE]:
        sys.exit(run_tests(Path(sys.argv[2])))
    # Bazel's PATH has neither the tools of root nor podman's helpers.
    os.environ["PATH"] = f"{os.environ.get('PATH', '/usr/bin:/bin')}:{FOLDERS}"
    reason = cannot_run()
    if reason:
        print(f"skipped: {reason}")
        summary(0, 0, len(TESTS))
        return
    before = machine_state()
    with tempfile.TemporaryDirectory(prefix="lab-containers-") as folder:
        ended = subprocess.run([*NAMESPACES, sys.executable, __file__, INSIDE, folder], check=False)
    remove_new_groups(before)
    left = [line for line in machine_state() if line not in before]
    gone = [line for line in before if line not in machine_state()]
    print(f"test the machine is left as it was found ... {'FAILED' if left or gone else 'ok'}")
    for line in left + gone:
        print(f"  changed: {line}")
    summary(int(not (left or gone)), int(bool(left or gone)), 0)
    sys.exit(1 if ended.returncode or left or gone else 0)


NAMESPACES = ["unshare", "--net", "--pid", "--mount", "--propagation", "private", "--fork",
              "--kill-child", "--mount-proc"]  # fmt: skip


def cannot_run() -> str | None:
    """Why podman cannot run here, in one sentence."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} not installed; ./enter's Debian environment has them"
    if os.geteuid() != 0:
        return "only root may make the network and the mounts of this test"
    tried = subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/run"],
                           capture_output=True, text=True, check=False)  # fmt: skip
    if tried.returncode:
        return f"no namespaces of our own here: {tried.stderr.strip()}"
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    if not any(line.split()[4] == "/" for line in mounts):
        return "the root is no mount (a plain chroot), so runc cannot put a container's there"
    return None


def machine_state() -> list[str]:
    """Firewall rules, network devices, forwarding and podman's cgroups, a line each."""
    rules = subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=False)
    forward = Path("/proc/sys/net/ipv4/ip_forward").read_text().strip()
    devices = sorted(os.listdir("/sys/class/net"))
    return [*rules.stdout.splitlines(), f"ip_forward {forward}", *devices, *groups()]


def groups() -> list[str]:
    return sorted(str(group) for group in Path("/sys/fs/cgroup").glob("*/libpod*"))


def remove_new_groups(before: list[str]) -> None:
    """podman leaves the groups of its containers behind; a group that is in use stays."""
    for group in set(groups()) - set(before):
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def summary(passed: int, failed: int, skipped: int) -> None:
    verdict = "FAILED" if failed else "ok"
    print(f"test result: {verdict}. {passed} passed; {failed} failed; {skipped} ignored")


# --- Inside the namespaces ------------------------------------------------------------------------


def run_tests(folder: Path) -> int:
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    raise_loopback()
    exports = run(str(HERE / "podman-env"), str(folder / "podman"))
    for line in exports.splitlines():
        name, value = line.removeprefix("export ").split("=", 1)
        os.environ[name] = value.strip("'")
    os.environ["HOME"] = str(folder)
    lab = Lab(folder)
    passed = failed = 0
    for test in TESTS:
        try:
            test(lab)
            outcome, passed = "ok", passed + 1
        except Exception:  # noqa: BLE001 - every failure is reported, and the rest goes on
            outcome, failed = "FAILED", failed + 1
            traceback.print_exc(file=sys.stdout)
        print(f"test {test.__doc__.splitlines()[0].rstrip('.')} ... {outcome}", flush=True)
    lab.end()
    summary(passed, failed, 0)
    return 1 if failed else 0


# --- The tests, in this order ---------------------------------------------------------------------


def image(lab: Lab) -> None:
    """an image that is built twice has one digest."""
    lab.digest = lab.build("first")
    assert lab.digest.startswith("sha256:"), lab.digest
    assert lab.build("second") == lab.digest


def loader(lab: Lab) -> None:
    """the loader of docker-compose takes every profile and refuses an unknown key."""
    for profile in ["cpu", "gpu", "lab"]:
        lab.compose(profile, "config", "--quiet")
    refused = lab.compose("cpu", "config", "--quiet", rc=None, OLLAMA_DIGEST="")
    assert "docs/CONTAINERS.md" in refused, refused
    wrong = lab.folder / "wrong.yaml"
    wrong.write_text(COMPOSE.read_text().replace("cap_drop:", "cap_dropp:"))
    said = run("docker-compose", "-f", str(wrong), "config", rc=None,
               env=os.environ | {"OLLAMA_DIGEST": lab.digest})  # fmt: skip
    assert "cap_dropp" in said, said


def health(lab: Lab) -> None:
    """two servers become healthy and answer on the loopback ports."""
    lab.compose("cpu", "up", "--detach", "--wait", "--pull", "never", "ollama_a", "ollama_b")
    for port in lab.ports:
        assert "-paced" in run(str(lab.lab), "sim", "--check", f"127.0.0.1:{port}")


def models(lab: Lab) -> None:
    """the jobs that bring the model reach their servers by name and end well."""
    for job in ["model_a", "model_b"]:
        lab.compose("cpu", "run", "--rm", "--no-deps", "-T", job)
    said = lab.compose("cpu", "run", "--rm", "--no-deps", "-T", "-e", "OLLAMA_HOST=nobody:1",
                       "model_a", rc=None)  # fmt: skip
    assert "no answer from nobody" in said, said


def limits(lab: Lab) -> None:
    """the limits and rights are those of the file."""
    for service in ["ollama_a", "ollama_b"]:
        facts = json.loads(run("podman", "inspect", container(service)))[0]
        host = facts["HostConfig"]
        assert host["ReadonlyRootfs"] and "no-new-privileges" in host["SecurityOpt"], host
        assert not facts["EffectiveCaps"], facts["EffectiveCaps"]
        bindings = host["PortBindings"]["11434/tcp"]
        assert [binding["HostIp"] for binding in bindings] == ["127.0.0.1"], bindings
        assert cgroup(facts["State"]["Pid"]) == {"memory": 2 << 30, "pids": 256, "cpus": 1.0}
        status = Path(f"/proc/{facts['State']['Pid']}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status, status


def cgroup(pid: int) -> dict:
    """What the kernel itself holds as the limits of a process, in either version of cgroups."""
    places = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        places.update({name: path for name in controllers.split(",")})

    def read(controller: str, old: str, new: str) -> str:
        if controller in places:
            return Path(f"/sys/fs/cgroup/{controller}{places[controller]}/{old}").read_text()
        return Path(f"/sys/fs/cgroup{places['']}/{new}").read_text()

    if "cpu" in places:
        quota = read("cpu", "cpu.cfs_quota_us", "").strip()
        quota += " " + read("cpu", "cpu.cfs_period_us", "")
    else:
        quota = read("cpu", "", "cpu.max")
    most, period = map(int, quota.split())
    return {"memory": int(read("memory", "memory.limit_in_bytes", "memory.max")),
            "pids": int(read("pids", "pids.max", "pids.max")), "cpus": most / period}  # fmt: skip


def matrix(lab: Lab) -> None:
    """the service lab runs the matrix against both and leaves its records in the volume."""
    context = lab.folder / "matrix"
    programs = lab.folder / "programs"
    programs.mkdir()
    for program in [lab.lab, *ROOT.glob("runtimes/*/runtimes-*")]:
        (programs / program.name).symlink_to(program.resolve())
    run(str(HERE / "lab/context"), str(programs), str(context))
    text = (ROOT / "experiments/tr115-ollama.toml").read_text()
    one = text.replace("blocks = 6", "blocks = 1")
    (context / "lab/experiments/one.toml").write_text(one)
    (context / "results").mkdir()
    # In place of Debian: the paced image has all the libraries that the programs need.
    (context / "Containerfile").write_text(
        "FROM localhost/paced:first\nCOPY lab/ /lab/\n"
        "COPY --chown=1000:1000 results/ /lab/results/\n"
        "WORKDIR /lab\nENV PATH=/lab/bin:/usr/bin:/bin\n"
    )
    run("podman", "build", "--quiet", "--tag", "localhost/lab:matrix", str(context))
    said = lab.compose("cpu", "run", "--rm", "--no-deps", "-T", "lab", LAB_TAG="matrix",
                       EXPERIMENT="experiments/one.toml", RESULTS="one")  # fmt: skip
    volume = run("podman", "volume", "inspect", f"{PROJECT}_results", "--format", "{{.Mountpoint}}")
    results = Path(volume.strip()) / "one"
    rows = [json.loads(line) for line in (results / "runs.jsonl").read_text().splitlines()]
    assert rows and all(row["status"] == "ok" and row["verification"] == "checked" for row in rows), said
    ran = json.loads((results / "run.json").read_text())
    assert ran["servers"] == ["http://ollama_a:11434", "http://ollama_b:11434"], ran
    # Of a checkout, not of an archive, the commit is known.
    noted = context / "lab/commit.json"
    assert ran["git"] == (json.loads(noted.read_text()) if noted.exists() else None), ran["git"]
    assert "tokio_default" in (results / "report.md").read_text()


def killed(lab: Lab) -> None:
    """a server that is killed and started again costs runs, not the matrix."""
    text = (ROOT / "experiments/tr115-ollama.toml").read_text()
    experiment = lab.folder / "experiment.toml"
    text = text.replace("[profile.quick]\nblocks = 1", "[profile.quick]\nblocks = 8")
    experiment.write_text(text.replace("stall_timeout_ms = 60_000", "stall_timeout_ms = 3_000"))
    tables = ROOT / "experiments/tables"
    shutil.copytree(tables, lab.folder / "tables", dirs_exist_ok=True)
    results = lab.folder / "results"
    servers = ",".join(f"http://127.0.0.1:{port}" for port in lab.ports)
    matrix = subprocess.Popen(
        [str(lab.lab), "run", str(experiment), "--quick", "--servers", servers, "--model", "paced",
         "--out", str(results), "--no-startup", "--no-report", "--json", "--root", str(ROOT)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)  # fmt: skip

    def rows() -> list[dict]:
        file = results / "runs.jsonl"
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def timed(status: str) -> list[dict]:
        return [row for row in rows() if row["block"] > 0 and row["status"] == status]

    wait_until(lambda: timed("ok") or matrix.poll() is not None, "first run")
    before = len(rows())
    run("podman", "kill", "--signal", "KILL", container("ollama_b"))
    wait_until(lambda: timed("failed") or matrix.poll() is not None, "failed run")
    run("podman", "start", container("ollama_b"))
    said, _ = matrix.communicate(timeout=PATIENCE_S)
    assert matrix.returncode == 1, f"ended with {matrix.returncode}: {said}"
    end = json.loads(said)
    assert end["finished"] and end["failed"], end
    assert before < end["recorded"], end
    assert rows()[-1]["status"] == "ok", rows()[-1]
    assert all(row["reason"] for row in timed("failed"))


def down(lab: Lab) -> None:
    """nothing is left after down."""
    # The records' volume is that of the profile lab.
    lab.compose("cpu", "--profile", "lab", "down", "--volumes")
    assert not run("podman", "ps", "--all", "--quiet"), "containers are left"
    assert not run("podman", "volume", "ls", "--quiet"), "volumes are left"
    assert PROJECT not in run("podman", "network", "ls")
    for port in lab.ports:
        run(str(lab.lab), "sim", "--check", f"127.0.0.1:{port}", rc=5)


def no_gpu(lab: Lab) -> None:
    """the profile gpu does not start without the cards."""
    said = gpu(lab, "up", "--detach", "--no-build", "ollama_a_gpu", rc=None)
    assert "unresolvable CDI devices nvidia.com/gpu=0" in said, said
    gpu(lab, "down", "--volumes", rc=None)


def own_cards(lab: Lab) -> None:
    """with stub devices each server of the profile gpu gets its own card."""
    write_stub(lab)
    assert cards(lab) == [["/dev/nvidia0"], ["/dev/nvidia1"]]


def one_card(lab: Lab) -> None:
    """one variable puts both servers on one card."""
    write_stub(lab)
    assert cards(lab, GPU_B="0") == [["/dev/nvidia0"], ["/dev/nvidia0"]]


def gpu(lab: Lab, *command: str, rc: int | None = 0, **variables: str) -> str:
    # podman's service for docker-compose drops device requests, podman-compose hands them on.
    return lab.compose("gpu", *command, rc=rc, tool="podman-compose", **variables)


def write_stub(lab: Lab) -> None:
    """Two devices of NVIDIA's kind that are /dev/null: they show the wiring, not a GPU."""
    node = lambda card: {"path": f"/dev/nvidia{card}", "hostPath": "/dev/null"}  # noqa: E731
    devices = [{"name": str(card), "containerEdits": {"deviceNodes": [node(card)]}}
               for card in range(2)]  # fmt: skip
    stub = {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": devices}
    (lab.folder / "podman/cdi/stub.json").write_text(json.dumps(stub))


def cards(lab: Lab, **variables: str) -> list[list[str]]:
    """The cards that each server sees, once it is healthy and has its model."""
    services = ["ollama_a_gpu", "ollama_b_gpu"]
    gpu(lab, "up", "--detach", "--no-build", *services, **variables)
    names = [f"{PROJECT}_{service}_1" for service in services]
    is_healthy = ["podman", "inspect", "--format", "{{.State.Health.Status}}"]
    for name in names:
        wait_until(lambda: run(*is_healthy, name).strip() == "healthy", f"health of {name}")
    gpu(lab, "run", "--rm", "--no-deps", "-T", "model_b", **variables)
    seen = [run("podman", "exec", name, "sh", "-c", "echo /dev/nvidia*").split() for name in names]
    gpu(lab, "down", "--volumes", **variables)
    assert not run("podman", "ps", "--all", "--quiet"), "containers are left"
    return seen


TESTS = [image, loader, health, models, limits, matrix, killed, down, no_gpu, own_cards, one_card]

if __name__ == "__main__":
    main()
