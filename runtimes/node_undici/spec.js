// Agents on Node.js and undici, one async function each. `build` makes one program of spec.js,
// client.js and agents.js, in this order.
"use strict";

// First of all, for the time until the first agent counts from here: the imports are part of it.
// Stamps are BigInt: nanoseconds since the machine's start pass 2^53 after 104 days.
const nowNs = process.hrtime.bigint;
const PROCESS_START_NS = nowNs();

const fs = require("node:fs");
const path = require("node:path");
const { isUtf8 } = require("node:buffer");
const { Client } = require("@UNDICI@");

const IDENTITY = {
  protocol: 1,
  family: "runtimes",
  variant: "@NAME@",
  measures: "undici",
  version: "installed",
  features: [],
};
const DONE = 0;
const FAILED = 1;
const BAD_SPEC = 2;
const HELP = `${IDENTITY.family}-${IDENTITY.variant}: agents on Node.js and undici.

Reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.

  --describe  print who this is, as JSON
  --help      print this

Exit codes: 0 done, 1 failed (the outcome says why), 2 bad spec`;

/** Nothing is run; the text says why. */
class BadSpec extends Error {}

/** The run has no numbers; the text is the outcome's reason. */
class Failed extends Error {}

const SPEC_OPTIONS = {
  "num_gpu?": "integer",
  "num_ctx?": "integer",
  "num_thread?": "integer",
  "temperature?": "number",
  seed: "integer",
  num_predict: "integer",
};
const SPEC_AGENT = {
  server: "string",
  model: "string",
  "work_per_token_ns?": "integer",
  "drop_after_tokens?": "integer",
  "start_after_ns?": "integer",
  calls: [{ prompt: "string", options: SPEC_OPTIONS }],
};
const SPEC_WORKLOAD = {
  arrangement: "string",
  stall_timeout_ms: "integer",
  "ingest_dir?": "string",
  "piece_bytes?": "integer",
  "give_up_lag_ms?": "integer",
  agents: [SPEC_AGENT],
};
const SPEC = { protocol: "integer", run: "string", workload: SPEC_WORKLOAD };

const KINDS = {
  integer: Number.isSafeInteger,
  // Of any size, and then not exact.
  whole: Number.isInteger,
};

function isOf(kind, value) {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind](value) : typeof value === kind;
}

/** Refuses a value of another shape: a kind, a list of one shape, or a shape for each key. A key
 * that ends in `?` may be null or missing. */
function checkShape(value, shape, place) {
  const isList = Array.isArray(shape);
  const isTable = !isList && typeof shape === "object";
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isList ? !Array.isArray(value) : isTable ? !isObject : !isOf(shape, value)) {
    throw new BadSpec(`invalid type of ${place}: ${JSON.stringify(value).slice(0, 60)}`);
  }
  if (isList) {
    value.forEach((entry, index) => checkShape(entry, shape[0], `${place}[${index}]`));
  }
  if (isTable) {
    checkKeys(value, shape);
  }
}

function checkKeys(value, shape) {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(shape, key) && !Object.hasOwn(shape, `${key}?`)) {
      throw new BadSpec(`unknown field \`${key}\``);
    }
  }
  for (const [key, below] of Object.entries(shape)) {
    const name = key.replace("?", "");
    const isThere = Object.hasOwn(value, name);
    if (key !== name && (!isThere || value[name] === null)) {
      continue;
    }
    if (!isThere) {
      throw new BadSpec(`missing field \`${name}\``);
    }
    checkShape(value[name], below, `\`${name}\``);
  }
}

/** The first line of standard input. */
async function firstLine() {
  let read = Buffer.alloc(0);
  for await (const data of process.stdin) {
    read = Buffer.concat([read, data]);
    if (data.includes(10)) {
      break;
    }
  }
  const end = read.indexOf(10);
  return read.subarray(0, end < 0 ? read.length : end).toString();
}

async function readSpec() {
  const line = await firstLine();
  if (!line) {
    throw new BadSpec("standard input ended before a run spec: write one JSON line to it");
  }
  let spec;
  try {
    spec = JSON.parse(line);
    checkShape(spec, SPEC, "the spec");
  } catch (error) {
    throw new BadSpec(`cannot read the run spec: ${error.message}`);
  }
  if (spec.protocol !== IDENTITY.protocol) {
    const speaks = `this variant speaks ${IDENTITY.protocol}`;
    throw new BadSpec(`the run spec is protocol ${spec.protocol}, ${speaks}`);
  }
  checkWorkload(spec.workload);
  return spec;
}

function checkWorkload(workload) {
  if (!["concurrent", "solo"].includes(workload.arrangement)) {
    const arrangement = workload.arrangement;
    throw new BadSpec(`\`arrangement\` is \`${arrangement}\`: write \`concurrent\` or \`solo\``);
  }
  if (workload.agents.length === 0) {
    throw new BadSpec("the workload names no agent: give `agents` at least one");
  }
  if (workload.stall_timeout_ms < 1) {
    throw new BadSpec(`\`stall_timeout_ms\` is ${workload.stall_timeout_ms}: give at least 1`);
  }
  workload.agents.forEach((agent, index) => {
    if (agent.calls.length === 0) {
      throw new BadSpec(`agent ${index}: \`calls\` is empty: give at least one`);
    }
    if (!address(agent.server)) {
      const place = `agent ${index}: \`server\` is \`${agent.server}\``;
      throw new BadSpec(`${place}: write it as http://HOST:PORT`);
    }
  });
}

/** Origin and prefix of `http://host:port/prefix/`; null where it is no such address. */
function address(server) {
  const found = /^(http:\/\/[^/]+:([0-9]{1,5}))(\/.*)?$/.exec(server.replace(/\/+$/, ""));
  return found && Number(found[2]) <= 65535 ? { origin: found[1], prefix: found[3] ?? "" } : null;
}

/** What this variant does not do; nothing where it does all that is asked. */
function refusal(workload) {
  if (workload.piece_bytes != null) {
    return "it takes a reply's bytes as its client gives them";
  }
  const isWork = (agent) => (agent.work_per_token_ns ?? 0) > 0;
  return workload.agents.some(isWork) ? "it does no work between tokens" : undefined;
}
