"""Scratch folders, and commands that end."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lab"
LOGS = ROOT / "results" / "stranger"
LAB = ["./enter", "bazel", "run", "//lab/cli:lab", "--"]
RUN = ["./enter", "bazel", "run", "//lab:run", "--"]

Ended = namedtuple("Ended", ["status", "said", "seconds"])


class CannotTry(Exception):
    """This machine lacks what the try needs."""


class Stopped(Exception):
    """A command took longer than it may."""


class _Try:
    """The try under way: when it has to end, and where its commands' words go."""

    deadline, log = float("inf"), LOGS / "log"


def let_only(seconds, name):
    """Bounds the commands of the try that begins."""
    if seconds < 10:
        raise CannotTry("no time is left")
    LOGS.mkdir(parents=True, exist_ok=True)
    _Try.deadline = time.monotonic() + seconds
    _Try.log = LOGS / f"{name.replace(' ', '-')}.log"
    _Try.log.write_text("")


def left():
    return max(0.0, _Try.deadline - time.monotonic())


def environment(more):
    """As a stranger's shell has it, from wherever this is started."""
    # A target folder shared with other checkouts would hold other programs than the try's own.
    ours = {name: value for name, value in os.environ.items()
            if not name.startswith(("LAB_", "CARGO_TARGET_DIR", "CARGO_BUILD_", "CARGO_PROFILE_"))}
    return {**ours, **{name: str(value) for name, value in more.items()}}


def begin(command, folder, env=None, **more):
    """Starts it in a group of its own, so that it can be ended with everything it started."""
    command = [str(word) for word in command]
    with _Try.log.open("ab") as log:
        log.write(f"\n$ cd {folder} && {' '.join(command)}\n".encode())
        log.flush()
        env = environment({}) if env is None else env
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True, **more)
        process.words_begin = log.tell()
    return process


def run(command, folder, env=None, at_most=None, **more):
    """Exit status, what was printed, and seconds; 130 where Ctrl-C ended it."""
    start = time.monotonic()
    process = begin(command, folder, env, **more)
    seconds = min(left(), at_most or float("inf"))
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        end(process)
        raise Stopped(f"stopped after {seconds:.0f} s: {' '.join(map(str, command))[:80]}") from None
    except BaseException:
        end(process)
        raise
    return Ended(as_shell(status), words_of(process), time.monotonic() - start)


def words_of(process):
    """What a process has printed so far."""
    with _Try.log.open("rb") as log:
        log.seek(process.words_begin)
        return log.read().decode(errors="replace")


def as_shell(status):
    """The status as a shell shows it."""
    return 128 - status if status is not None and status < 0 else status


def end(process):
    """As Ctrl-C does it, then for good."""
    for how, seconds in ((signal.SIGINT, 20), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(seconds)
    return None


def last(said):
    """The last line that is not empty."""
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing was printed"


def told(ended):
    """How it ended, in few words."""
    if ended.status == 0:
        return f"{ended.seconds:.0f} s"
    return f"exit {ended.status}: {last(ended.said)}"


@contextlib.contextmanager
def scratch(parent="/var/tmp"):
    """A folder; what Bazel keeps of checkouts in it goes away too."""
    # Not below /tmp, which may lie in memory.
    folder = Path(tempfile.mkdtemp(prefix="stranger-", dir=parent))
    try:
        yield folder
    finally:
        for child in [folder, *folder.iterdir()]:
            forget(child)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def cloned(name="clone"):
    """A clean clone of the last commit."""
    with scratch() as folder:
        yield clone(folder, name)


def clone(folder, name="clone"):
    # By its URL, so that what is packed is what a server would send.
    git = ["git", "clone", "--quiet", ROOT.as_uri(), str(folder / name)]
    subprocess.run(git, check=True, timeout=300)
    return folder / name


def outputs(checkout):
    """Where Bazel keeps what it makes of a checkout."""
    return CACHE / "bazel" / hashlib.md5(bytes(checkout)).hexdigest()


def forget(checkout):
    """Ends Bazel's server of a checkout and removes its outputs, in a time of their own."""
    if not outputs(checkout).exists() or not (checkout / "enter").exists():
        return
    process = begin(["./enter", "bazel", "clean", "--expunge"], checkout)
    try:
        process.wait(120)
    except BaseException:
        end(process)
        raise


def environment_of(checkout):
    """Which of the three environments ./enter takes here."""
    ended = run(["./enter", "--which"], checkout)
    found = [line for line in ended.said.splitlines() if line.startswith("environment: ")]
    return found[0].split()[-1] if found else f"none: {last(ended.said)}"


def megabytes(path):
    """What a folder holds on the disk; 0 where there is none."""
    said = subprocess.run(["du", "--summarize", "--block-size=1M", str(path)], capture_output=True,
                          text=True, check=False, timeout=300).stdout
    return int(said.split()[0]) if said else 0
