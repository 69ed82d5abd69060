"""The topology under test: podman as docker-compose sees it, the image, and what both need."""

import os
import socket
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path.cwd()
HERE = ROOT / "containers"
COMPOSE = HERE / "compose.yaml"
PROJECT = "lab-servers"
# Bounds every wait. Nothing here is measured.
PATIENCE_S = 120


def raise_loopback() -> None:
    """SIOCSIFFLAGS with IFF_UP and IFF_RUNNING, for a new network has its loopback down."""
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x41))


def run(*command: str, rc: int | None = 0, **options) -> str:
    """Both outputs of a command that has to end with `rc`; None takes any end."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False,
                           **options)  # fmt: skip
    if rc is not None and ended.returncode != rc:
        raise AssertionError(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


class Lab:
    """The service that podman offers to docker-compose, and the image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lab = ROOT / os.environ["LAB_PROGRAM"]
        self.digest = ""
        self.ports = free_ports(2)
        self.ended = threading.Event()
        socket_path = folder / "podman.sock"
        os.environ["DOCKER_HOST"] = f"unix://{socket_path}"
        self.service = subprocess.Popen(
            ["podman", "system", "service", "--time", "0", f"unix://{socket_path}"],
            stdin=subprocess.DEVNULL,
        )
        wait_until(socket_path.exists, "podman's socket")
        threading.Thread(target=self.ask_for_health, daemon=True).start()

    def ask_for_health(self) -> None:
        while not self.ended.wait(0.3):
            for name in run("podman", "ps", "--quiet", rc=None).split():
                run("podman", "healthcheck", "run", name, rc=None)

    def build(self, tag: str) -> str:
        context = self.folder / "context"
        if not context.exists():
            run(str(HERE / "paced/root"), str(self.lab), str(context / "root"))
        run("podman", "build", "--timestamp", "0", "--no-cache", "--quiet", "--build-arg",
            "PACED_TIME_SCALE=0.02", "--tag", f"localhost/paced:{tag}", "--file",
            str(HERE / "paced/Containerfile"), str(context))  # fmt: skip
        return run("podman", "image", "inspect", f"localhost/paced:{tag}", "--format",
                   "{{.Digest}}").strip()  # fmt: skip

    def compose(self, profile: str, *command: str, rc: int | None = 0, tool: str = "docker-compose",
                **variables: str) -> str:  # fmt: skip
        environment = os.environ | {
            "OLLAMA_IMAGE": "localhost/paced", "OLLAMA_TAG": "first", "OLLAMA_DIGEST": self.digest,
            "MODEL": "paced", "OLLAMA_A_PORT": str(self.ports[0]),
            "OLLAMA_B_PORT": str(self.ports[1]), **variables,
        }  # fmt: skip
        return run(tool, "-f", str(COMPOSE), "--profile", profile, *command, rc=rc, env=environment)

    def end(self) -> None:
        self.ended.set()
        self.service.terminate()
        self.service.wait(timeout=PATIENCE_S)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_until(condition, what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"no {what} within {PATIENCE_S} s")
        time.sleep(0.05)


def container(service: str) -> str:
    return f"{PROJECT}-{service}-1"
