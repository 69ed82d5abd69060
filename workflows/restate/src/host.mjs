// Restate's SDK, with one durable handler that is any shape, and the client that calls it.
//
// Its arguments: the folder of Restate's packages, the addresses of the server's ingress and of its
// administration, the shape. Lines of JSON come in, one a task: `[task, input]`. Lines go out:
// `["ready", 0]`, `["accepted", task]`, `["complete", task, 0]`, and once the input has ended
// `["row", ...]` for each step. Of what goes wrong, `["failed", reason]` tells.
//
// In a folder that a killed process has left, Restate itself takes up calls that were under way.
// What that process did is told as if it had been done when its task was handed in here.

import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [packages, ingress, admin, text] = process.argv.slice(-4);
// Numbers that JSON.parse would round.
const shape = JSON.parse(text.replace(/"(constant|low|high)":(\d+)/g, '"$1":"$2"'));
const MODULUS = (1n << 61n) - 1n;
const WORD = (1n << 64n) - 1n;
/** No single answer takes a hundredth of it. */
const PATIENCE_MS = 50_000;

// Node has it from version 22; without it the SDK fails inside every call, and the server repeats
// the call until it gives up.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};

/** CLOCK_MONOTONIC on Linux, as on the other side of the door. */
const now = () => process.hrtime.bigint();
const tell = (...words) => process.stdout.write(`[${words.join(",")}]\n`);
const fail = (error) => tell('"failed"', JSON.stringify(`${error?.message ?? error}`));

const mix = (seed, index) => {
  let state = (seed + (index + 1n) * 0x9e3779b97f4a7c15n) & WORD;
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return state ^ (state >> 31n);
};

/** `Operation::compute` of the lab's protocol. */
const compute = (operation, values, part) => {
  const first = values[0] ?? 0n;
  if (operation === "pass") return first;
  if (operation === "square") {
    const product = values.reduce((product, value) => (product * value) % MODULUS, 1n);
    return (product * product) % MODULUS;
  }
  if (operation === "sum") return values.reduce((sum, value) => sum + value, 0n) % MODULUS;
  if (operation.constant !== undefined) return BigInt(operation.constant);
  let sum = 0n;
  const rows = BigInt(operation.sum_rows);
  for (let index = BigInt(part) * rows; index < BigInt(part + 1) * rows; index++) {
    sum += mix(first, index) % 10_000n;
  }
  return sum % MODULUS;
};

const deciders = (step) =>
  [step.when?.step, step.parts_of].filter((other) => other !== undefined && other !== null);

/** How many steps are made of one whose deciders are done. */
const partsOf = (step, values) => {
  if (step.when) {
    const value = values[step.when.step][0];
    const { low, high } = step.when;
    if (value === undefined || value < BigInt(low) || value >= BigInt(high)) return 0;
  }
  return step.parts_of === undefined ? 1 : Number(values[step.parts_of][0] ?? 0n);
};

/** What processes before this one have kept; the last may have been killed while it wrote. */
const kept = (name) => {
  if (!existsSync(name)) return [];
  const left = readFileSync(name, "latin1");
  const end = left.lastIndexOf("\n") + 1;
  truncateSync(name, end);
  return left.slice(0, end).split("\n").slice(0, -1);
};

/** By task: its steps' rows as they are told, once its handler has done all of them. */
const rows = new Map();
/** By task: when it was handed in to this process. */
const handedNs = new Map();

/** Before the server has the call as done, since it does not call that handler again. */
const keep = (task, done) => {
  rows.set(task, done);
  appendFileSync("rows", `${[task, ...done.map((row) => row.join(","))].join(";")}\n`);
};

/**
 * One step of Restate.
 *
 * What its stamps mean: `created`, the handler's code has learned all that decides about the step.
 * `enqueued`, it has learned the results of all that the step waits for, and makes the call.
 * `claimed`, the SDK calls the step's function. `started` and `finished` are around the operation.
 * `recorded`, the call has come back, so the server has acknowledged the result.
 */
const runStep = (context, done, index, part, inputs, createdNs, enqueuedNs) => {
  const stamps = [];
  const body = () => {
    const claimedNs = now();
    const startedNs = now();
    const value = compute(shape.steps[index].operation, inputs, part);
    stamps.push([claimedNs, startedNs, now()]);
    // JSON's numbers are too small.
    return value.toString();
  };
  return context.run(`${index}.${part}`, body).map((text) => {
    const recordedNs = now();
    // Its value was on record where it was not called.
    const called = stamps.at(-1) ?? [recordedNs, recordedNs, recordedNs];
    const times = [createdNs, enqueuedNs, ...called, recordedNs];
    done.push([index, part, ...times, text, Math.max(stamps.length, 1)]);
    return BigInt(text);
  });
};

/**
 * Runs at once whatever may be: Restate wants the order in which steps begin to be the same
 * whenever the handler is run again, so the next begin when all of these are done. In the published
 * shapes nothing has to wait longer for that.
 */
const handler = (all) => async (context, { task, given }) => {
  const done = [];
  const values = shape.steps.map(() => undefined);
  const createdNs = shape.steps.map(() => undefined);
  const known = (others) => others.every((other) => values[other] !== undefined);
  while (values.includes(undefined)) {
    const atNs = now();
    const wave = [];
    const calls = [];
    shape.steps.forEach((step, index) => {
      if (createdNs[index] === undefined && known(deciders(step))) createdNs[index] = atNs;
      if (values[index] !== undefined || !known([...step.after, ...deciders(step)])) return;
      const parts = partsOf(step, values);
      if (parts === 0) return void (values[index] = []);
      const taken = step.after.flatMap((other) => values[other]);
      const inputs = step.after.length ? taken : [BigInt(given)];
      wave.push([index, parts]);
      for (let part = 0; part < parts; part++) {
        calls.push(runStep(context, done, index, part, inputs, createdNs[index], atNs));
      }
    });
    const found = calls.length ? await all(calls) : [];
    for (const [index, parts] of wave) values[index] = found.splice(0, parts);
  }
  keep(task, done);
  return values.at(-1)[0].toString();
};

const ask = async (url, options) => {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} says ${response.status}: ${body}`);
  return body;
};
const post = (url, body) =>
  ask(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** The server opens its ports in its own time, and tells nobody. */
const whenUp = async (url) => {
  const until = now() + BigInt(PATIENCE_MS) * 1_000_000n;
  for (;;) {
    try {
      return await ask(url);
    } catch (error) {
      if (now() > until) throw error;
      await new Promise((later) => setTimeout(later, 20));
    }
  }
};

const serve = async (restate) => {
  const run = handler((calls) => restate.RestatePromise.all(calls));
  const service = restate.service({ name: "lab", handlers: { shape: run } });
  const endpoint = restate.endpoint().bind(service);
  // It would write a line for each call.
  endpoint.setLogger(() => {});
  const server = http2.createServer(endpoint.http2Handler());
  // Where calls that are under way are to be gone on with.
  const [known] = kept("port");
  await new Promise((listening) => server.listen(Number(known ?? 0), "127.0.0.1", listening));
  await whenUp(`http://${admin}/health`);
  await whenUp(`http://${ingress}/restate/health`);
  if (known) return;
  const { port } = server.address();
  await post(`http://${admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
  writeFileSync("port", `${port}\n`);
};

/** The number of the call of the handler; one that was told of is not made again. */
const call = async (calls, task, given) => {
  if (calls.has(task)) return calls.get(task);
  const sent = await post(`http://${ingress}/lab/shape/send`, { task, given });
  const id = JSON.parse(sent).invocationId;
  appendFileSync("calls", `${task} ${id}\n`);
  return id;
};

const follow = async (task, id) => {
  await ask(`http://${ingress}/restate/invocation/${id}/attach`);
  tell('"complete"', task, 0);
};

const main = async () => {
  const restate = createRequire(`${packages}/`)("@restatedev/restate-sdk");
  for (const line of kept("rows")) {
    const [task, ...done] = line.split(";");
    rows.set(Number(task), done.map((row) => row.split(",")));
  }
  const numbers = kept("calls").map((line) => line.split(" "));
  const calls = new Map(numbers.map(([task, id]) => [Number(task), id]));
  await serve(restate);
  tell('"ready"', 0);
  for await (const line of createInterface({ input: process.stdin })) {
    const [, number, given] = line.match(/^\[(\d+),(\d+)\]$/);
    const task = Number(number);
    handedNs.set(task, now());
    const id = await call(calls, task, given);
    tell('"accepted"', task);
    follow(task, id).catch(fail);
  }
  for (const [task, atNs] of handedNs) {
    for (const [index, part, ...row] of rows.get(task)) {
      const times = row.slice(0, 6).map((ns) => (BigInt(ns) < atNs ? atNs : ns));
      tell('"row"', task, index, part, ...times, ...row.slice(6));
    }
  }
  process.stdout.write("", () => process.exit(0));
};

main().catch((error) => {
  fail(error);
  process.exitCode = 1;
  process.stdout.write("", () => process.exit(1));
});
