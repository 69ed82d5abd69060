#!/usr/bin/env python3
"""Tries the dashboard of `lab watch` against a real Prometheus, in about a minute.

usage: tools/proof watch [--lab PROGRAM] [--seconds N]

Starts two paced servers, a watch of them and a Prometheus that scrapes it, all on free loopback
ports and in a folder of their own; asks Prometheus for every expression of dashboard.json; and ends
what it started, by process id. Prints a line for each expression. Needs `prometheus` on PATH, which
Debian has in the package of that name (apt-get install --no-install-recommends prometheus; it need
not run as a service). Grafana is not needed.

exit codes: 0 every expression has an answer; 1 one has none; 2 bad arguments; 3 there is no
prometheus, or something did not start
"""

import argparse
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What Grafana puts in for the variable: four scrapes, and here they are a second apart.
RATE_INTERVAL = "20s"
# A threshold that every request crosses, so that there is an alert to show.
RULE = """
[[rule]]
metric = "ttft_p50_s"
over = 0.000001
window_s = 30
"""


def main():
    arguments = parse()
    prometheus = shutil.which("prometheus")
    if not prometheus:
        stop("there is no prometheus on PATH: apt-get install --no-install-recommends prometheus")
    started = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            address = start_all(Path(folder), arguments.lab, prometheus, started)
            failed = ask_all(address, arguments.seconds)
        finally:
            for process in reversed(started):
                end(process)
    sys.exit(1 if failed else 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lab", type=Path, default=ROOT / "target/release/lab")
    parser.add_argument("--seconds", type=int, default=40, help="how long an answer may take")
    arguments = parser.parse_args()
    if not arguments.lab.is_file():
        parser.error(f"there is no {arguments.lab}: cargo build --release -p lab-cli")
    return arguments


def start_all(folder, lab, prometheus, started):
    """Returns Prometheus's address."""
    def start(command, **pipes):
        started.append(subprocess.Popen([str(part) for part in command], **pipes))
        return started[-1]

    sim = start([lab, "sim", "--ports", "0,0", "--ttft-ms", "20", "--rate", "200,100"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ports = json.loads(sim.stdout.readline())["ports"]
    rules = folder / "rules.toml"
    published = subprocess.run([lab, "watch", "--print-rules"], check=True, capture_output=True)
    rules.write_text(published.stdout.decode() + RULE)
    servers = ",".join(f"http://127.0.0.1:{port}" for port in ports)
    watch = start([lab, "watch", "--servers", servers, "--model", "paced", "--every", "500ms",
                   "--rules", rules, "--listen", "127.0.0.1:0"],
                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = watch.stderr.readline()
    found = re.search(r"metrics at http://(\S+)/metrics", said)
    if not found:
        stop(f"the watch did not start: {said}")
    return start_prometheus(folder, prometheus, found[1], start)


def start_prometheus(folder, prometheus, watched, start):
    config = (HERE / "prometheus.yml").read_text()
    config = config.replace("127.0.0.1:9464", watched).replace("5s", "1s")
    (folder / "prometheus.yml").write_text(config)
    address = f"127.0.0.1:{free_port()}"
    command = [prometheus, f"--config.file={folder / 'prometheus.yml'}",
               f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={address}"]
    with open(folder / "log", "w", encoding="utf-8") as log:
        process = start(command, stdout=log, stderr=log)
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{address}/-/ready", timeout=2):
                return address
        except OSError:
            time.sleep(0.2)
    stop(f"prometheus did not start: {(folder / 'log').read_text()[-2000:]}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask_all(address, seconds):
    """How many expressions have no answer."""
    dashboard = json.loads((HERE / "dashboard.json").read_text())
    waiting = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    until = time.monotonic() + seconds
    refused = {}
    while waiting and time.monotonic() < until:
        time.sleep(1)
        for expression in list(waiting):
            series, refused[expression] = ask(address, expression)
            if series:
                print(f"{series:3} series  {expression}")
                waiting.remove(expression)
    for expression in waiting:
        print(f"    nothing  {expression}  {refused.get(expression) or ''}")
    return len(waiting)


def ask(address, expression):
    """The number of series, and what Prometheus complains of."""
    query = urllib.parse.urlencode({"query": expression.replace("$__rate_interval", RATE_INTERVAL)})
    try:
        with urllib.request.urlopen(f"http://{address}/api/v1/query?{query}", timeout=5) as answer:
            return len(json.load(answer)["data"]["result"]), None
    except urllib.error.HTTPError as error:
        return 0, json.load(error).get("error")


def end(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def stop(sentence):
    print(f"tools/proof watch: {sentence}", file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    main()
