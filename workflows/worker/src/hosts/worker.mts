// A worker in TypeScript: on its own (`process`), or by calling the library in Rust (`ffi PATH`). Its
// types can be erased: what is left is a program in JavaScript.

import fs from 'node:fs';
import { createRequire } from 'node:module';

const VERSION = 1n;
const LACKING = 3;
const MODULUS = (1n << 61n) - 1n;
const WORD = (1n << 64n) - 1n;

// A step as koffi decodes it: numbers as long as they are exact.
type Decoded = { operation: number; argument: number; part: number; count: number; values: unknown };

const now = (): bigint => process.hrtime.bigint();

function onItsOwn(): void {
  write([VERSION, 0n]);
  let head: bigint[] | null;
  while ((head = words(4)) !== null) {
    const [operation, argument, part, count] = head;
    const values = words(Number(count)) ?? fail('a frame breaks off');
    const started = now();
    const value = compute(operation, argument, part, values);
    write([value, started, now()]);
  }
}

function ffi(path: string): void {
  let koffi: any;
  try {
    koffi = createRequire(`${process.cwd()}/`)(process.env.LAB_KOFFI);
  } catch {
    process.exit(LACKING);
  }
  koffi.struct('Step', {
    operation: 'uint64_t',
    argument: 'uint64_t',
    part: 'uint64_t',
    count: 'uint64_t',
    values: 'uint64_t *',
  });
  const library = koffi.load(path);
  const empty = library.func('void workflows_worker_empty()');
  const open = library.func('void *workflows_worker_open(int, int, uint64_t)');
  const next = library.func('int workflows_worker_next(void *, _Out_ Step *)');
  const record = library.func('int workflows_worker_record(void *, uint64_t)');
  const close = library.func('void workflows_worker_close(void *)');

  const worker = open(0, 1, emptyCallNs(empty));
  if (worker === null) fail('the worker cannot be opened');
  const step = {} as Decoded;
  let more: number;
  while ((more = next(worker, step)) === 1) {
    const count = Number(step.count);
    const values: number[] = count ? koffi.decode(step.values, 'uint64_t', count) : [];
    const numbers = Array.from(values, BigInt);
    const [operation, argument, part] = [step.operation, step.argument, step.part].map(BigInt);
    record(worker, compute(operation, argument, part, numbers));
  }
  close(worker);
  if (more < 0) fail('the pipe brought no step');
}

// The median of calls by the hundred: one is about as short as a look at the clock.
function emptyCallNs(empty: () => void): bigint {
  const times: number[] = [];
  for (let batch = 0; batch < 101; batch += 1) {
    const start = now();
    for (let call = 0; call < 100; call += 1) empty();
    times.push(Number(now() - start));
  }
  return BigInt(Math.floor(times.sort((a, b) => a - b)[50] / 100));
}

function compute(operation: bigint, argument: bigint, part: bigint, values: bigint[]): bigint {
  const first = values.length ? values[0] : 0n;
  switch (operation) {
    case 0n:
      return first;
    case 1n: {
      const product = values.reduce((sofar, value) => (sofar * value) % MODULUS, 1n);
      return (product * product) % MODULUS;
    }
    case 2n:
      return values.reduce((sum, value) => sum + value, 0n) % MODULUS;
    case 3n:
      return argument;
    case 4n: {
      let sum = 0n;
      for (let row = part * argument; row < (part + 1n) * argument; row += 1n) {
        sum += mix(first, row) % 10000n;
      }
      return sum % MODULUS;
    }
    default:
      return fail(`there is no operation ${operation}`);
  }
}

function mix(seed: bigint, index: bigint): bigint {
  let state = (seed + (index + 1n) * 0x9e3779b97f4a7c15n) & WORD;
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return state ^ (state >> 31n);
}

// What has come through the pipe and is not read yet.
let held: Buffer = Buffer.alloc(0);
const piece = Buffer.alloc(65536);

// The next words; null when the pipe has ended. Reading blocks: a worker has nothing else to do.
function words(count: number): bigint[] | null {
  while (held.length < 8 * count) {
    const length = fs.readSync(0, piece);
    if (length === 0) return held.length ? fail('a frame breaks off') : null;
    held = Buffer.concat([held, piece.subarray(0, length)]);
  }
  const read = Array.from({ length: count }, (_, index) => held.readBigUInt64LE(8 * index));
  held = held.subarray(8 * count);
  return read;
}

function write(numbers: bigint[]): void {
  const bytes = Buffer.alloc(8 * numbers.length);
  numbers.forEach((number, index) => bytes.writeBigUInt64LE(number, 8 * index));
  fs.writeSync(1, bytes);
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

if (process.argv[process.argv.length - 1] === 'process') onItsOwn();
else ffi(process.argv[process.argv.length - 1]);
