// --- Agents --------------------------------------------------------------------------------------

const KEYWORDS = ["latency", "throughput", "memory", "bottleneck", "improve", "recommend"];

/** CPU time of all threads of this process. */
function cpuNs() {
  const { user, system } = process.cpuUsage();
  return 1000 * (user + system);
}

/** A number of /proc/self/status (memory is in KiB); 0 where the kernel does not say. */
function ofStatus(key) {
  const lines = fs.readFileSync("/proc/self/status", "latin1").split("\n");
  const found = lines.find((line) => line.startsWith(key));
  return found ? Number(found.slice(key.length).trim().split(/\s/)[0]) : 0;
}

/** What the run costs this process. */
class Meter {
  agent() {
    this.cpuAtFirstAgentNs ??= cpuNs();
  }

  token() {
    this.cpuAtFirstTokenNs ??= cpuNs();
  }

  /** The `done` line of an agent's last call was parsed; the last agent's stays. */
  lastToken() {
    this.cpuAtLastTokenNs = cpuNs();
    // Counting threads costs CPU time, so it comes after the reading.
    this.threads = ofStatus("Threads:");
  }

  counters() {
    const usage = process.resourceUsage();
    const last = this.cpuAtLastTokenNs ?? 0;
    return {
      process_start_ns: PROCESS_START_NS,
      cpu_startup_ns: this.cpuAtFirstAgentNs ?? 0,
      cpu_streaming_ns: Math.max(last - (this.cpuAtFirstTokenNs ?? last), 0),
      cpu_total_ns: cpuNs(),
      voluntary_switches: usage.voluntaryContextSwitches,
      involuntary_switches: usage.involuntaryContextSwitches,
      rss_high_water_bytes: ofStatus("VmHWM:") * 1024,
      threads: this.threads ?? 0,
    };
  }
}

/** Counts words, and how many begin with each keyword, whatever their case. */
function analysis(text) {
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const words = lower.split(/[^\p{Alphabetic}\p{N}]/u);
  const count = (keyword) => words.filter((word) => word.startsWith(keyword)).length;
  const counts = KEYWORDS.map((keyword) => ` ${keyword} ${count(keyword)},`).join("");
  return `analysis:${counts} words ${lower.split(/\s+/).filter(Boolean).length}`;
}

/** Reads every regular file below the folder into memory and hashes it; links are not followed. It
 * gives their length in bytes. Both the reading and the hash are done on libuv's threads; nobody
 * asks for the hash, so that it is one which Node.js does there. */
async function ingest(folder) {
  if (folder == null) {
    return 0;
  }
  const paths = [];
  const folders = [folder];
  while (folders.length > 0) {
    const above = folders.pop();
    for (const entry of await fs.promises.readdir(above, { withFileTypes: true })) {
      const list = entry.isDirectory() ? folders : entry.isFile() ? paths : [];
      list.push(path.join(above, entry.name));
    }
  }
  let size = 0;
  for (const file of paths.sort()) {
    const content = await fs.promises.readFile(file);
    await crypto.subtle.digest("SHA-1", content);
    size += content.length;
  }
  return size;
}

/** What the system says, as everybody else writes it: Node.js begins it with the error's name. */
function why(error) {
  const words = error.message.replace(/^[A-Z0-9]+: /, "");
  return words[0].toUpperCase() + words.slice(1);
}

/** One agent: a folder to read, then its calls in order. */
class Agent {
  constructor(index, spec, workload, meter, beganNs) {
    Object.assign(this, { index, spec, workload, meter, replies: [], analysis: undefined });
    this.dueNs = beganNs + BigInt(spec.start_after_ns ?? 0);
  }

  async run() {
    // A timer counts whole milliseconds of the loop's clock, and may be early by a part of one.
    while (this.spec.start_after_ns > 0 && nowNs() < this.dueNs) {
      const waitMs = Number(this.dueNs - nowNs()) / 1e6;
      await new Promise((go) => setTimeout(go, waitMs));
    }
    this.meter.agent();
    this.startNs = nowNs();
    const folder = this.workload.ingest_dir;
    try {
      this.ingestBytes = await ingest(folder);
    } catch (error) {
      throw new Failed(`agent ${this.index}: cannot ingest ${folder}: ${why(error)}`);
    }
    this.ingestEndNs = nowNs();
    const { server, calls } = this.spec;
    const connection = new Connection(server, this.workload.stall_timeout_ms);
    for (const [number, call] of calls.entries()) {
      try {
        await this.call(call, connection);
      } catch (error) {
        const place = `agent ${this.index}, call ${number} on ${server}`;
        throw error instanceof Failed ? new Failed(`${place}: ${error.message}`) : error;
      }
    }
    await connection.end();
  }

  async call(call, connection) {
    const { model, calls, drop_after_tokens: dropAfter } = this.spec;
    const isLast = this.replies.length + 1 === calls.length;
    const giveUpLagMs = this.workload.give_up_lag_ms;
    const reply = new Reply(model, this.meter, isLast, dropAfter ?? 0, giveUpLagMs);
    this.replies.push(reply);
    const after = this.analysis === undefined ? "" : `\n\n${this.analysis}`;
    const given = Object.entries(call.options).filter(([, value]) => value !== null);
    const options = Object.fromEntries(given);
    const body = { model, prompt: call.prompt + after, stream: true, options };
    try {
      await connection.post(JSON.stringify(body), reply);
    } catch (error) {
      if (!(error instanceof Dropped)) {
        throw error;
      }
      this.endNs = reply.endNs;
      return;
    }
    this.analysis = analysis(reply.text.join(""));
    this.endNs = nowNs();
  }
}

async function run(workload, meter) {
  const beganNs = nowNs();
  const agent = (spec, index) => new Agent(index, spec, workload, meter, beganNs);
  const agents = workload.agents.map(agent);
  if (workload.arrangement === "concurrent") {
    await Promise.all(agents.map((agent) => agent.run()));
  } else {
    for (const agent of agents) {
      await agent.run();
    }
  }
  return agents;
}

// --- The outcome ---------------------------------------------------------------------------------

/** One column a name; agent by agent, call by call, token by token. */
function samples(agents) {
  const replies = agents.flatMap((agent) => agent.replies);
  const columns = {
    agent_start_ns: agents.map((agent) => agent.startNs),
    agent_end_ns: agents.map((agent) => agent.endNs),
    ingest_end_ns: agents.map((agent) => agent.ingestEndNs),
    ingest_bytes: agents.map((agent) => agent.ingestBytes),
    call_agent: agents.flatMap((agent) => agent.replies.map(() => agent.index)),
    call_start_ns: replies.map((reply) => reply.startNs),
    call_first_token_ns: replies.map((reply) => reply.receivedNs[0] ?? UNSAID),
    call_last_token_ns: replies.map((reply) => reply.receivedNs.at(-1) ?? UNSAID),
    call_end_ns: replies.map((reply) => reply.endNs),
    call_tokens: replies.map((reply) => reply.receivedNs.length),
    call_text_hash: replies.map((reply) => xxh64(Buffer.from(reply.text.join("")))),
    token_received_ns: replies.flatMap((reply) => reply.receivedNs),
    token_sent_ns: replies.flatMap((reply) => reply.sentNs),
  };
  if (agents.some((agent) => agent.dueNs !== agents[0].dueNs)) {
    columns.agent_due_ns = agents.map((agent) => agent.dueNs);
  }
  if (replies.some((reply) => reply.droppedNs !== UNSAID)) {
    columns.call_dropped_ns = replies.map((reply) => reply.droppedNs);
  }
  for (const column of Object.values(LAST_LINE)) {
    columns[column] = replies.map((reply) => reply.said[column] ?? UNSAID);
  }
  return columns;
}

const PRIMES = [
  11400714785074694791n,
  14029467366897019727n,
  1609587929392839161n,
  9650029242287828579n,
  2870177450012600261n,
];

/** The hash of that name with seed 0, bit-cast to a signed integer. */
function xxh64(data) {
  const [p1, p2, p3, p4, p5] = PRIMES;
  const cut = (value) => BigInt.asUintN(64, value);
  const turned = (value, bits) => cut((value << bits) | (cut(value) >> (64n - bits)));
  const mixed = (lane, word) => cut(turned(cut(lane + word * p2), 31n) * p1);
  let at = 0;
  let total = p5;
  if (data.length >= 32) {
    const lanes = [cut(p1 + p2), p2, 0n, cut(-p1)];
    for (; at + 32 <= data.length; at += 32) {
      lanes.forEach((lane, index) => {
        lanes[index] = mixed(lane, data.readBigUInt64LE(at + 8 * index));
      });
    }
    total = [1n, 7n, 12n, 18n].reduce((sum, bits, index) => sum + turned(lanes[index], bits), 0n);
    total = lanes.reduce((sum, lane) => cut((cut(sum) ^ mixed(0n, lane)) * p1 + p4), total);
  }
  total = cut(total + BigInt(data.length));
  for (; at + 8 <= data.length; at += 8) {
    total = cut(turned(total ^ mixed(0n, data.readBigUInt64LE(at)), 27n) * p1 + p4);
  }
  if (at + 4 <= data.length) {
    total = cut(turned(total ^ cut(BigInt(data.readUInt32LE(at)) * p1), 23n) * p2 + p3);
    at += 4;
  }
  for (; at < data.length; at += 1) {
    total = cut(turned(total ^ cut(BigInt(data[at]) * p5), 11n) * p1);
  }
  total = cut((total ^ (total >> 33n)) * p2);
  total = cut((total ^ (total >> 29n)) * p3);
  return BigInt.asIntN(64, total ^ (total >> 32n));
}

/** As JSON, in which an integer has as many digits as it needs. */
function json(value) {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (Array.isArray(value)) {
    return `[${value.map(json).join(",")}]`;
  }
  if (typeof value === "object") {
    const entries = Object.entries(value);
    return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${json(one)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The earliest or the latest of some stamps. */
function outermost(stamps, isBefore) {
  return stamps.reduce((found, stamp) => (isBefore(stamp, found) ? stamp : found));
}

/** The outcome and the exit code. */
async function outcome(spec) {
  const head = { protocol: IDENTITY.protocol, run: spec.run };
  const without = (status, reason) => ({ ...head, status, reason, counters: {}, samples: {} });
  const lacking = refusal(spec.workload);
  if (lacking) {
    return [without("unsupported", lacking), DONE];
  }
  const meter = new Meter();
  let reason;
  try {
    const agents = await run(spec.workload, meter);
    // Before the replies are hashed, which other variants do in native code.
    const counters = meter.counters();
    const start = outermost(agents.map((agent) => agent.startNs), (a, b) => a < b);
    counters.wall_ns = outermost(agents.map((agent) => agent.endNs), (a, b) => a > b) - start;
    return [{ ...head, status: "ok", counters, samples: samples(agents) }, DONE];
  } catch (error) {
    const raised = `the variant raised ${error.name}: ${error.message}`;
    reason = error instanceof Failed ? error.message : raised;
  }
  console.error(`${IDENTITY.variant}: ${reason}`);
  return [without("failed", reason), FAILED];
}

async function main(args) {
  if (args.length === 1 && args[0] === "--describe") {
    return [json(IDENTITY), DONE];
  }
  if (args.length === 1 && ["--help", "-h"].includes(args[0])) {
    return [HELP, DONE];
  }
  if (args.length > 0) {
    console.error("the only arguments are --describe and --help");
    return [undefined, BAD_SPEC];
  }
  try {
    const [answer, code] = await outcome(await readSpec());
    return [json(answer), code];
  } catch (sentence) {
    if (!(sentence instanceof BadSpec)) {
      throw sentence;
    }
    console.error(sentence.message);
    return [undefined, BAD_SPEC];
  }
}

main(process.argv.slice(2)).then(([answer, code]) => {
  // Other agents may still be at work where one has failed.
  const end = () => process.exit(code);
  return answer === undefined ? end() : process.stdout.write(`${answer}\n`, end);
});
