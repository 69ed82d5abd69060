"""The lab carried elsewhere: to another folder, another processor or system, beside a cache."""

import os
import shutil
import socket
import time
from pathlib import Path

from place import (CannotTry, begin, cloned, end, environment, last, run, scratch, told,
                   words_of)

# What needs no checkout, and the exit codes of an answer.
ANYWHERE = [
    (["doctor", "--json"], {0}),
    (["compare", "true", "true", "--budget", "2"], {0, 10, 11}),
    (["audit", "README.md"], {0, 1}),
    (["report", "records", "--check"], {0}),
    (["report", "records", "--out", "report"], {0}),
    (["export", "records", "--csv"], {0}),
    (["sim", "--measure", "1"], {0}),
    (["watch", "--help"], {0}),
    (["corpus", "--help"], {0}),
]

# No file, clock, process or network of one system: these compile for macOS too. The rest of the lab
# reads /proc, asks perf_event_open and makes namespaces: lab/process, lab/driver, lab/sim,
# lab/watch, the kits of the families, and the rooms of lab/compare and lab/site that are not pure.
PURE = ["lab-audit", "lab-corpus", "lab-families", "lab-family", "lab-import", "lab-plan",
        "lab-protocol", "lab-record", "lab-report", "lab-stats", "schedulers-adaptive"]
TARGETS = {
    "aarch64-unknown-linux-gnu": ["lab-cli"],
    "aarch64-apple-darwin": PURE,
    "x86_64-apple-darwin": PURE,
}

BAZEL_REMOTE = "github.com/buchgr/bazel-remote/v2@v2.6.1"


def elsewhere():
    """The one program, in a folder that is no checkout."""
    # Below /tmp, which ./enter shows: there the program finds the libraries it was linked with.
    with cloned() as checkout, scratch("/tmp") as folder:
        built = run(["./enter", "bazel", "build", "//lab/cli:lab"], checkout)
        if built.status:
            return told(built), False
        lab = shutil.copy(checkout / "bazel-bin/lab/cli/lab", folder / "lab")
        shutil.copy(checkout / "README.md", folder)
        shutil.copytree(checkout / "reports/offload-wake", folder / "records")
        for picture in (folder / "records").glob("*.svg"):
            picture.unlink()
        wrong = []
        for words, codes in ANYWHERE:
            ended = run([checkout / "enter", lab, *words], folder)
            if ended.status not in codes:
                wrong.append(f"{words[0]}: {told(ended)}")
        drawn = len(list((folder / "report").glob("*.svg")))
        served = answers(checkout, lab, folder)
        if not served:
            wrong.append("sim: no answer")
        measured = f"{len(ANYWHERE) + 1 - len(wrong)} of {len(ANYWHERE) + 1} work, {drawn} pictures"
        return "; ".join([measured, *wrong]), not wrong and drawn > 0


def answers(checkout, lab, folder):
    """Whether the paced server takes a connection."""
    port = free_port()
    server = begin([checkout / "enter", lab, "sim", "--ports", str(port)], folder)
    try:
        return is_open(port, server)
    finally:
        end(server)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_open(port, server):
    for _ in range(100):
        if server.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.2)
    return False


def program_size():
    """`lab` as `cargo install --profile dist` makes it."""
    with cloned() as checkout:
        dist = ["cargo", "build", "--locked", "--profile", "dist", "--package", "lab-cli"]
        built = run(["./enter", *dist], checkout)
        if built.status:
            return told(built), False
        size = (checkout / "target/dist/lab").stat().st_size / 1e6
        return f"{size:.1f} MB, built in {built.seconds / 60:.1f} min", size <= 8.0


def other_targets():
    """Types and system calls; nothing is linked, and nothing is run."""
    if not shutil.which("rustup"):
        raise CannotTry("rustup is not installed, and it brings other targets' libraries")
    wrong = []
    with cloned() as checkout:
        for target, packages in TARGETS.items():
            added = run(["rustup", "target", "add", target], checkout)
            if added.status:
                raise CannotTry(f"rustup target add {target}: {last(added.said)}")
            named = [word for package in packages for word in ("--package", package)]
            checked = run(["cargo", "check", "--locked", "--target", target, *named], checkout,
                          without_compiler(checkout, target))
            if checked.status:
                wrong.append(f"{target}: {first_error(checked.said)}")
    return "; ".join(wrong) or f"{len(TARGETS)} targets", not wrong


def without_compiler(checkout, target):
    name = target.replace("-", "_")
    stand_in = Path(__file__).with_name("no-compiler")
    return environment({f"CC_{name}": stand_in, f"CXX_{name}": stand_in, f"AR_{name}": stand_in,
                        "SDKROOT": checkout, "MACOSX_DEPLOYMENT_TARGET": "11.0"})


def first_error(said):
    errors = [line for line in said.splitlines() if line.startswith("error")]
    return (errors or [last(said)])[0][:150]


def remote_cache():
    """Two builds from nothing; the second takes what the first has left at a server."""
    with cloned() as checkout, scratch() as folder:
        server = begin([bazel_remote(folder), "--dir", folder / "cache", "--max_size", "2",
                        "--http_address", f"127.0.0.1:{(port := free_port())}",
                        "--grpc_address", f"127.0.0.1:{free_port()}"], folder)
        try:
            if not is_open(port, server):
                return f"bazel-remote: {last(words_of(server))}", False
            build = ["./enter", "bazel", "build", "--config=remote", "--disk_cache=",
                     f"--remote_cache=http://127.0.0.1:{port}", "//lab/stats"]
            first = run(build, checkout)
            run(["./enter", "bazel", "clean"], checkout)
            second = run(build, checkout)
        finally:
            end(server)
        hits = [line for line in second.said.splitlines() if "remote cache hit" in line]
        good = first.status == 0 and second.status == 0 and bool(hits)
        measured = f"{first.seconds:.0f} s, then {second.seconds:.0f} s"
        return f"{measured}: {hits[0] if hits else told(second)}", good


def bazel_remote(folder):
    """The server: the one on PATH, or made by Go."""
    found = shutil.which("bazel-remote")
    if found:
        return found
    if not shutil.which("go"):
        raise CannotTry("neither bazel-remote nor go, which makes it, is on PATH")
    home = os.environ.get("GOPATH") or Path.home() / "go"
    made = run(["go", "install", BAZEL_REMOTE], folder,
               environment({"GOBIN": folder, "GOFLAGS": "-buildvcs=false", "GOPATH": home}))
    if made.status:
        raise CannotTry(f"go install {BAZEL_REMOTE}: {last(made.said)}")
    return folder / "bazel-remote"


TRIES = {
    "elsewhere": ("every command works, with pictures", 12, elsewhere),
    "remote cache": ("the second build hits", 15, remote_cache),
    "other targets": ("aarch64 and macOS type-check", 15, other_targets),
    "program size": ("at most 8 MB", 30, program_size),
}
