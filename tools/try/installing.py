"""Getting an environment and the lab, on machines and in folders unlike the developers'."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from place import (LAB, ROOT, CannotTry, Stopped, as_shell, begin, cloned, end, environment,
                   environment_of, last, left, megabytes, outputs, run, scratch, told, words_of)

NO_ENVIRONMENT = 70


def says_its_help(checkout, before=()):
    """Whether the lab, built by Bazel, prints its help."""
    ended = run([*before, *LAB, "--help"], checkout)
    good = ended.status == 0 and "Usage: lab" in ended.said
    return told(ended), good


def clean_clone():
    with cloned() as checkout:
        return says_its_help(checkout)


def space_in_the_path():
    with cloned("a folder") as checkout:
        return says_its_help(checkout)


def tarball():
    with scratch() as folder:
        (folder / "lab").mkdir()
        archive = ["git", "archive", "--output", str(folder / "lab.tar"), "HEAD"]
        subprocess.run(archive, cwd=ROOT, check=True, timeout=300)
        subprocess.run(["tar", "--extract", "--file", "../lab.tar"], cwd=folder / "lab", check=True,
                       timeout=300)
        return says_its_help(folder / "lab")


def no_network():
    """With the caches that a first use has filled."""
    if os.geteuid() != 0:
        raise CannotTry("only root may take the network away here")
    with cloned() as checkout:
        alone = 'ip link set lo up 2>/dev/null; exec "$@"'
        return says_its_help(checkout, ["unshare", "--net", "bash", "-c", alone, "bash"])


def warm_start():
    with cloned() as checkout:
        asked = ["./enter", "bazel", "info", "workspace"]
        first = run(asked, checkout)
        if first.status:
            return told(first), False
        ended = run(asked, checkout)
        return f"{ended.seconds:.1f} s (the first time {first.seconds:.0f} s)", ended.seconds <= 3.0


def another_user():
    """Works, or says in one sentence what is missing."""
    with cloned() as checkout:
        if os.geteuid() != 0:
            ended = run(["./enter", "--which"], checkout)
            return told(ended), ended.status == 0
        user = pwd.getpwnam(os.environ.get("STRANGER_USER", "nobody"))
        folder = checkout.parent
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        ended = run(["./enter", "--which"], checkout, user=user.pw_uid, group=user.pw_gid,
                    extra_groups=[], env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
        tells = ended.status == NO_ENVIRONMENT and re.search(r"install|usermod|sysctl", ended.said)
        return told(ended), ended.status == 0 or bool(tells)


def cache_that_cannot_be_written():
    with cloned() as checkout:
        needs_debian(checkout)
        ended = run(["./enter", "--which"], checkout, environment({"XDG_CACHE_HOME": "/proc/none"}))
        return told(ended), ended.status == NO_ENVIRONMENT and "XDG_CACHE_HOME" in ended.said


def needs_debian(checkout):
    found = environment_of(checkout)
    if found != "debian":
        raise CannotTry(f"./enter takes {found} here")


def ctrl_c_while_making():
    """In the middle of the root file system: nothing half made stays."""
    with cloned() as checkout, scratch() as cache:
        needs_debian(checkout)
        job = begin(["./enter", "true"], checkout, environment({"XDG_CACHE_HOME": cache}))
        try:
            wait_for(lambda: any(cache.glob("lab/rootfs-*.unfinished*")), job, "a half is made")
            time.sleep(5)
            os.killpg(job.pid, signal.SIGINT)
            status = as_shell(job.wait(min(60, left())))
        except subprocess.TimeoutExpired:
            return "it goes on 60 s after Ctrl-C", False
        finally:
            end(job)
        made = [path.name for path in cache.glob("lab/rootfs-*")]
        measured = f"exit {status}, left: {', '.join(made) or 'nothing'}"
        return measured, status == 130 and not made


def ctrl_c():
    """In the middle of the main job: the records are whole, and nothing of it still runs."""
    with cloned() as checkout:
        # Inside the checkout, which is what ./enter shows of this folder.
        out = checkout / "results" / "stopped"
        command = ["./enter", "bazel", "run", "//lab:tr115_matrix", "--", "--quick", "--out", out]
        job = begin(command, checkout)
        runs = out / "runs.jsonl"
        try:
            wait_for(lambda: runs.exists() and runs.read_text().count("\n") >= 2, job, "two runs")
            os.killpg(job.pid, signal.SIGINT)
            status = as_shell(job.wait(min(120, left())))
        except subprocess.TimeoutExpired:
            return "it goes on 120 s after Ctrl-C", False
        finally:
            end(job)
        time.sleep(1)
        still = processes_with(str(checkout), outputs(checkout).name)
        whole = runs.read_text().endswith("\n")
        measured = f"exit {status}, {len(still)} processes left, records {'whole' if whole else 'torn'}"
        return measured, status == 130 and not still and whole


def wait_for(is_so, job, what):
    """Polls while a job runs."""
    while not is_so():
        if job.poll() is not None:
            raise Stopped(f"it ended before {what}: {last(words_of(job))}")
        if left() == 0:
            raise Stopped(f"the time was over before {what}")
        time.sleep(0.2)


def processes_with(*wanted):
    """Processes whose command line has one of the words; Bazel's server is to live on."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if any(word in words for word in wanted) and not words.startswith("bazel("):
            found.append(words)
    return found


def own_experiment():
    """`bazel run //lab:run -- FILE` with a file of one's own."""
    with cloned() as checkout:
        mine = checkout / "mine"
        mine.mkdir()
        # With the table of service times, which it names from its own folder.
        for name in ("offload-wake.toml", "offload-service-times.tsv"):
            shutil.copy(checkout / "experiments" / name, mine)
        command = ["./enter", "bazel", "run", "//lab:run", "--", "mine/offload-wake.toml", "--quick"]
        ended = run(command, checkout)
        return told(ended), ended.status == 0


def repository():
    with cloned() as checkout:
        objects = checkout.glob(".git/objects/**/*")
        packed = sum(path.stat().st_size for path in objects if path.is_file())
        return f"{packed / 2**20:.1f} MiB", packed <= 30 * 2**20


def first_use():
    """With empty caches of ./enter, Bazel and Cargo: both commands of the README."""
    with cloned() as checkout, scratch() as home:
        needs_debian(checkout)
        env = environment({"XDG_CACHE_HOME": home / "cache", "CARGO_HOME": cargo_home(home)})
        before, start = received(), time.monotonic()
        out = checkout / "results" / "first"
        command = ["./enter", "bazel", "run", "//lab:tr115_matrix", "--", "--quick", "--out", out]
        job = begin(command, checkout, env)
        try:
            wait_for(lambda: (out / "run.json").exists(), job, "the job began")
            waited = time.monotonic() - start
            downloaded = (received() - before) / 1e6
            status = job.wait(left())
        finally:
            end(job)
        tests = run(["./enter", "bazel", "test", "//..."], checkout, env)
        run(["./enter", "bazel", "shutdown"], checkout, env)
        held = megabytes(home)
        measured = (f"job began after {waited / 60:.1f} min, {downloaded:.0f} MB; exit {status}; tests "
                    f"{tests.seconds / 60:.1f} min, exit {tests.status}; {held / 1024:.1f} GiB")
        subprocess.run(["./enter", "--clean"], cwd=checkout, env=env, check=False, timeout=300)
        met = (waited <= 600 and downloaded <= 500 and status == 0 and tests.status == 0
               and tests.seconds <= 720 and held <= 4096)
        return measured, met


def cargo_home(home):
    """An empty one, with the programs and the settings of this user's."""
    own = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    new = home / "cargo"
    new.mkdir()
    # Copies, for ./enter shows this folder and not that one.
    if (own / "bin").exists():
        shutil.copytree(own / "bin", new / "bin", symlinks=True)
    for name in ("config.toml", "credentials.toml"):
        if (own / name).exists():
            shutil.copy2(own / name, new / name)
    return new


def received():
    """Bytes that all network devices of the machine have received, but for the loopback."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    devices = (line.split(":") for line in lines)
    return sum(int(numbers.split()[0]) for name, numbers in devices if name.strip() != "lo")


TRIES = {
    "repository": ("at most 30 MiB", 2, repository),
    "cache not writable": ("exit 70, names XDG_CACHE_HOME", 2, cache_that_cannot_be_written),
    "another user": ("works, or says what to install", 10, another_user),
    "warm start": ("at most 3 s", 3, warm_start),
    "Ctrl-C while making": ("exit 130, nothing left", 5, ctrl_c_while_making),
    "clean clone": ("the lab says its help", 10, clean_clone),
    "space in the path": ("the lab says its help", 10, space_in_the_path),
    "tarball": ("the lab says its help", 10, tarball),
    "no network": ("the lab says its help", 10, no_network),
    "Ctrl-C": ("exit 130, nothing left, records whole", 12, ctrl_c),
    "own experiment": ("runs", 12, own_experiment),
}
FROM_NOTHING = {
    "first use": ("job after 10 min, 500 MB; tests 12 min; 4 GiB", 75, first_use),
}
