"""Holds load generators against the paced server's stamps, for reports/clients; see `tools/proof clients --help`.

  tools/proof clients run FOLDER [--rounds N] [--only NAME,...]   a round runs each generator in each load once, in
                                   random order; runs are added to FOLDER/runs.jsonl
  tools/proof clients pacing FOLDER [--rounds N]   the server's pacing from outside, into FOLDER/pacing.tsv
  tools/proof clients page FOLDER [--check]        writes the page and its tables from those two files

Options of the first two: --programs DIR, where lab and runtimes-* are [default: target/release]. The generators
are those of `tools/peer clients up`; what is missing is left out with a sentence. A round takes about four minutes.
"""

import argparse
import json
import os
import platform
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# No folder of compiled files beside these.
sys.dont_write_bytecode = True

import page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CLIENTS = Path(os.environ.get("LAB_CLIENTS", "clients")).resolve()
TOKENIZER = HERE / "tokenizer"
LIMIT_S = 180
# Streams and rate of the server's curve, up to 50,000 tokens a second.
CURVE = [(2, 100), (100, 100), (1000, 10), (1000, 20), (1000, 50), (2000, 50)]
CURVE_S = 2

# Streams, tokens a second and stream, tokens a reply, tokens a chunk, replies a stream, how far the times of the
# replies spread, and requests a second where the load is open. The crowd's two lengths give the cost of a token
# without what starting costs; without a spread its streams would ask for their tokens in one step.
LOADS = {
    "pair": {"streams": 2, "rate": 100, "tokens": 100, "chunk": 1, "replies": 3, "spread": 0},
    "crowd-short": {"streams": 1000, "rate": 10, "tokens": 20, "chunk": 1, "replies": 1, "spread": 0.3},
    "crowd": {"streams": 1000, "rate": 10, "tokens": 20, "chunk": 1, "replies": 2, "spread": 0.3},
    "chunks": {"streams": 2, "rate": 100, "tokens": 100, "chunk": 4, "replies": 2, "spread": 0},
    "arrivals": {"streams": 40, "rate": 100, "tokens": 20, "chunk": 1, "replies": 1, "spread": 0,
                 "per_s": 10},
}
# They only show what is counted: the first round is enough.
SHOWN = {"chunks", "arrivals"}
SHOWN_ROUNDS = 1

# What each is started by.
PROGRAMS = {
    "floor": "{programs}/runtimes-floor", "tokio_sockets": "{programs}/runtimes-tokio_sockets",
    "aiperf": "{clients}/aiperf/bin/aiperf", "guidellm": "{clients}/guidellm/bin/guidellm",
    "inference-perf": "{clients}/inference-perf/bin/inference-perf", "oha": "{clients}/bin/oha",
    "k6": "{clients}/bin/k6", "wrk": "wrk", "ollama-bench": "{clients}/bin/bench",
}
OF_RUNTIMES = "sed s,URL,{url},g {dir}/spec.json | {program}"
# Each as `sh` takes it; {url} is the server. Where it has a second line, that is for an open load.
COMMANDS = {
    "floor": [OF_RUNTIMES],
    "tokio_sockets": [OF_RUNTIMES],
    "aiperf": [
        "{program} profile --model paced --url {url} --endpoint-type chat --streaming"
        " --tokenizer {tokenizer} --concurrency {streams} --request-count {requests} --isl 20 --osl {tokens}"
        " --extra-inputs max_tokens:{tokens} --artifact-dir {dir} --ui none --no-gpu-telemetry --no-server-metrics",
        "{program} profile --model paced --url {url} --endpoint-type chat --streaming"
        " --tokenizer {tokenizer} --request-rate {per_s} --arrival-pattern constant --request-count {requests}"
        " --isl 20 --osl {tokens} --extra-inputs max_tokens:{tokens} --artifact-dir {dir} --ui none"
        " --no-gpu-telemetry --no-server-metrics"],
    "guidellm": [
        "{program} run --backend kind=openai_http,target={url},model=paced"
        " --profile kind=concurrent,streams={streams} --constraint kind=max_requests,count={requests}"
        " --data kind=synthetic_text,prompt_tokens=20,output_tokens={tokens}"
        " --tokenizer kind=hf_auto,model={tokenizer} --output kind=json,path={dir}/guidellm.json --disable-console",
        "{program} run --backend kind=openai_http,target={url},model=paced"
        " --profile kind=constant,rate={per_s} --constraint kind=max_requests,count={requests}"
        " --data kind=synthetic_text,prompt_tokens=20,output_tokens={tokens}"
        " --tokenizer kind=hf_auto,model={tokenizer} --output kind=json,path={dir}/guidellm.json --disable-console"],
    "inference-perf": [
        "sed s,URL,{url},g {dir}/inference-perf.yml > {dir}/told.yml;"
        " {program} --config_file {dir}/told.yml"],
    "oha": [
        "{program} -n {requests} -c {streams} --no-tui --output-format json -m POST -T application/json"
        " -d {body} {url}/v1/chat/completions",
        "{program} -n {requests} -c {streams} -q {per_s} --no-tui --output-format json -m POST"
        " -T application/json -d {body} {url}/v1/chat/completions"],
    "k6": [
        "{program} run --quiet --no-usage-report --summary-export {dir}/k6.json -e URL={url}"
        " -e STREAMS={streams} -e REPLIES={replies} -e BODY={body} {here}/k6.js"],
    "wrk": ["{program} -t1 -c{streams} -d{seconds}s --timeout 30s -s {here}/wrk.lua {url} -- {body}"],
    "ollama-bench": [
        "OLLAMA_HOST={url} {program} -model paced -epochs {requests} -max-tokens {tokens} -format csv"
        " | awk -f {here}/ollama-bench.awk"],
}
# Where their versions are pinned; those of Python packages in the file of their name.
PINS = {"oha": r"OHA=(\S+)", "k6": r"K6=(\S+)", "ollama-bench": r"OLLAMA=(\S+)"}
# Where a generator writes what it measured; else it prints it.
REPORTS = {"aiperf": "profile_export_aiperf.json", "guidellm": "guidellm.json", "k6": "k6.json",
           "inference-perf": "summary_lifecycle_metrics.json"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["run", "pacing", "page"])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "reports/clients")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--programs", type=Path, default=ROOT / "target/release")
    asked = parser.parse_args()
    asked.programs = asked.programs.resolve()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if asked.task == "page":
        page.write(asked.folder, LOADS, asked.check)
    else:
        asked.folder.mkdir(parents=True, exist_ok=True)
        {"run": run, "pacing": pacing}[asked.task](asked)


def run(asked):
    """All rounds; the rounds that are there already count, so that a second call goes on."""
    path = asked.folder / "runs.jsonl"
    first = 1 + max((each["round"] for each in page.read_runs(path)), default=0) if path.exists() else 1
    names = [name for name in COMMANDS if not asked.only or name in asked.only.split(",")]
    for name in [name for name in names if not program(name, asked.programs)]:
        print(f"{name} is not installed: tools/peer clients up", file=sys.stderr)
        names.remove(name)
    tell_clients(asked.folder / "clients.tsv", names)
    for number in range(first, first + asked.rounds):
        trials = [(name, load) for name in names for load in LOADS
                  if fits(name, load) and (load not in SHOWN or number <= SHOWN_ROUNDS)]
        random.shuffle(trials)
        for name, load in trials:
            done = {"round": number, "client": name, "load": load, "unix_s": int(time.time()),
                    "machine_load": os.getloadavg()[0], **one(name, load, asked.programs)}
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(done, separators=(",", ":")) + "\n")
            print(number, name, load, done.get("error") or f"{done['generator_cpu_us_per_token']:.1f} us a token",
                  flush=True)


def program(name, programs):
    return shutil.which(PROGRAMS[name].format(clients=CLIENTS, programs=programs))


def tell_clients(path, names):
    """The versions that were asked for, and the command lines."""
    pins = "".join(file.read_text() for file in [HERE / "recipe.sh", *HERE.glob("*.txt")])
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    about = f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}"
    rows = [["client", "version", "command"], ["machine", about, ""]]
    for name in names:
        pinned = re.search(PINS.get(name, f"^{name}==(\\S+)"), pins, re.MULTILINE)
        version = pinned[1] if pinned else f"of {commit[:12]}"
        if name == "wrk":
            version = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout.split()[1]
        rows.append([name, version, "\\n".join(COMMANDS[name])])
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def fits(name, load):
    """Ollama's bench asks one request after the other; arrivals by the clock are of those that are told a rate."""
    if "per_s" in LOADS[load]:
        return len(COMMANDS[name]) > 1
    return name != "ollama-bench" or load in ("pair", "chunks")


def one(name, load, programs):
    """One run, as `lab sim calibrate --json` tells it, or its error."""
    is_alone = name == "ollama-bench"
    its = dict(LOADS[load], **({"streams": 1} if is_alone else {}))
    its["requests"] = its["streams"] * its["replies"]
    # wrk is told a time: that of its replies.
    its["seconds"] = round(its["replies"] * (0.2 + its["tokens"] / its["rate"])) + 1
    body = {"model": "paced", "stream": True, "max_tokens": its["tokens"],
            "messages": [{"role": "user", "content": "measure"}]}
    with tempfile.TemporaryDirectory(prefix="clients-") as folder:
        write_settings(Path(folder), its)
        line = COMMANDS[name]["per_s" in its].format(
            **its, url="{url}", dir=folder, program=program(name, programs), tokenizer=TOKENIZER, here=HERE,
            body=shlex.quote(json.dumps(body)))
        command = [programs / "lab", "sim", "calibrate", line, "--json", "--limit-s", str(LIMIT_S),
                   "--rate", str(its["rate"]), "--tokens-per-chunk", str(its["chunk"]), "--spread", str(its["spread"])]
        if "per_s" not in its:
            command += ["--concurrency", str(LOADS[load]["streams"])]
        if name in REPORTS:
            command += ["--report", f"{folder}/{REPORTS[name]}"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-300:]}


def write_settings(folder, its):
    """What is told by a file: the workload of our clients, and inference-perf's."""
    calls = lambda agent: [{"prompt": "measure", "options": {"seed": agent * 100 + call, "num_predict": its["tokens"]}}
                           for call in range(its["replies"])]
    agents = [{"server": "URL", "model": "paced", "calls": calls(agent)} for agent in range(its["streams"])]
    workload = {"arrangement": "concurrent", "stall_timeout_ms": 60_000, "ingest_dir": None, "agents": agents}
    spec = {"protocol": 1, "run": "calibrate", "workload": workload}
    (folder / "spec.json").write_text(json.dumps(spec) + "\n")
    text = (HERE / "inference-perf.yml").read_text()
    for word, value in {"REQUESTS": its["requests"], "STREAMS": its["streams"], "TOKENS": its["tokens"],
                        "TOKENIZER": TOKENIZER, "FOLDER": folder}.items():
        text = text.replace(word, str(value))
    (folder / "inference-perf.yml").write_text(text)


def pacing(asked):
    """The server's own lateness, as a program sees it that is none of ours."""
    path = asked.folder / "pacing.tsv"
    columns = ["round", "streams", "rate", "tokens", "asked", "shared_stamp", "p50_us", "p99_us", "max_us"]
    rows = [columns]
    for number in range(1, asked.rounds + 1):
        for streams, rate in random.sample(CURVE, len(CURVE)):
            row = dict(probe(asked.programs, streams, rate), round=number, streams=streams, rate=rate)
            rows.append([row[column] for column in columns])
            print(*rows[-1], flush=True)
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def probe(programs, streams, rate):
    ttft_ms = 200
    command = [programs / "lab", "sim", "--ports", "0", "--mode", "free", "--rate", str(rate), "--ttft-ms",
               str(ttft_ms), "--streams", str(streams)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = json.loads(server.stdout.readline())["ports"][0]
            told = [sys.executable, HERE / "probe.py", port, streams, rate, CURVE_S, ttft_ms]
            done = subprocess.run(list(map(str, told)), stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S)
            return json.loads(done.stdout)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
