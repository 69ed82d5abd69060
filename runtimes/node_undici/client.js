// --- A reply -------------------------------------------------------------------------------------

/** What a server did not say. */
const UNSAID = -1;
/** Bounds in bytes: of a line, and of what is kept of a response that is no stream. */
const MAX_LINE = 4 << 20;
const MAX_ERROR_BODY = 4 << 10;
/** Columns of a call from the server's last line, by its keys. */
const LAST_LINE = {
  eval_count: "call_eval_count",
  eval_duration: "call_eval_ns",
  prompt_eval_count: "call_prompt_eval_count",
  prompt_eval_duration: "call_prompt_eval_ns",
  load_duration: "call_load_ns",
  total_duration: "call_server_total_ns",
};
const SENT = /"sent_ns"\s*:\s*(-?[0-9]+)/;
const NOTHING = Buffer.alloc(0);

/** The agent has enough of this reply: whoever reads it closes the connection. */
class Dropped extends Failed {}

/** One reply as it arrives: lines of JSON, cut anywhere, and the time of each token. */
class Reply {
  constructor(model, meter, isLast, dropAfter, giveUpLagMs) {
    Object.assign(this, { dropAfter: isLast ? dropAfter : 0, droppedNs: UNSAID, giveUpLagMs });
    Object.assign(this, { model, meter, isLast, status: 200, said: {}, done: false });
    Object.assign(this, { errorBody: NOTHING, carry: NOTHING, text: [] });
    Object.assign(this, { receivedNs: [], sentNs: [], startNs: nowNs(), endNs: UNSAID });
  }

  /** Takes bytes of the body, which were handed over at this time. */
  feed(data, receivedNs) {
    if (this.status !== 200) {
      const room = MAX_ERROR_BODY - this.errorBody.length;
      this.errorBody = Buffer.concat([this.errorBody, data.subarray(0, room)]);
      return;
    }
    const all = this.carry.length > 0 ? Buffer.concat([this.carry, data]) : data;
    // What was carried has no end of a line.
    let begin = 0;
    let end = all.indexOf(10, this.carry.length);
    for (; end >= 0; end = all.indexOf(10, begin)) {
      this.line(all.subarray(begin, end), receivedNs);
      begin = end + 1;
    }
    this.carry = all.subarray(begin);
    if (this.carry.length > MAX_LINE) {
      throw broken(this.carry, `no end of line within ${MAX_LINE} bytes`);
    }
    this.keepUp();
    if (this.dropAfter > 0 && this.receivedNs.length >= this.dropAfter && !this.done) {
      this.meter.lastToken();
      this.endNs = this.droppedNs = nowNs();
      throw new Dropped("dropped");
    }
  }

  keepUp() {
    const sentNs = this.sentNs.at(-1) ?? UNSAID;
    if (this.giveUpLagMs == null || sentNs < 0) {
      return;
    }
    const lagMs = (this.receivedNs.at(-1) - BigInt(sentNs)) / 1_000_000n;
    if (lagMs > this.giveUpLagMs) {
      const waited = `saturated: a token waited ${lagMs} ms for its agent`;
      throw new Failed(`${waited}, and ${this.giveUpLagMs} ms are the limit`);
    }
  }

  /** The body is complete; a server need not end its last line. */
  finish(receivedNs) {
    if (this.status !== 200) {
      throw new Failed(`status ${this.status}: ${refused(this.errorBody)}`);
    }
    this.line(this.carry, receivedNs);
    if (!this.done) {
      const tokens = this.receivedNs.length;
      throw new Failed(`the body ended without a done line, after ${tokens} tokens`);
    }
  }

  line(data, receivedNs) {
    const text = data.toString();
    if (text.trim() === "") {
      return;
    }
    const { response, hasToken, done, error, model, sentNs, said } = parsed(data, text);
    if (error !== undefined) {
      throw new Failed(`the server reports an error: ${error}`);
    }
    if (this.done && (done || hasToken)) {
      const on = excerpt(Buffer.from(response));
      throw new Failed(`the server went on after its done line, with \`${on}\``);
    }
    this.checkModel(model, done);
    if (hasToken) {
      this.meter.token();
      this.text.push(response);
      this.receivedNs.push(receivedNs);
      this.sentNs.push(sentNs);
    }
    if (done) {
      this.endNs = nowNs();
      this.done = true;
      this.said = said;
      if (this.isLast) {
        this.meter.lastToken();
      }
    }
  }

  /** Ollama names the model on every line: none may name another one, and the last must name it.
   * Its tag `latest` may be left out. */
  checkModel(said, isLast) {
    const untagged = (model) => model.replace(/:latest$/, "");
    if (said && untagged(said) !== untagged(this.model)) {
      throw new Failed(`asked for model ${this.model}, the server says that it ran ${said}`);
    }
    if (isLast && !said) {
      throw new Failed(`asked for model ${this.model}, the server does not say which one it ran`);
    }
  }
}

/** What a line says, as far as an agent reads it. */
function parsed(data, text) {
  try {
    const line = anObject(data, text);
    const done = typed(line, "done", "boolean", false);
    const response = typed(line, "response", "string", "");
    const thinking = typed(line, "thinking", "string", "");
    return {
      response,
      // A thought is a token that is no text.
      hasToken: response !== "" || thinking !== "",
      done,
      error: saidBy(line.error),
      model: typed(line, "model", "string", ""),
      sentNs: exactly(typed(line, "sent_ns", "whole", UNSAID), text),
      said: done ? lastLine(line) : undefined,
    };
  } catch (why) {
    throw broken(data, why.message);
  }
}

/** A stamp of more digits than a number of JavaScript holds is read from the text. */
function exactly(stamp, text) {
  const exact = Number.isSafeInteger(stamp) ? stamp : BigInt(SENT.exec(text)?.[1] ?? stamp);
  if (typeof exact === "bigint" && BigInt.asIntN(64, exact) !== exact) {
    throw new Error("`sent_ns` has more than 64 bits");
  }
  return exact;
}

function lastLine(line) {
  const said = {};
  for (const [key, column] of Object.entries(LAST_LINE)) {
    said[column] = typed(line, key, "integer", UNSAID);
  }
  return said;
}

function anObject(data, text) {
  if (!isUtf8(data)) {
    throw new Error("it is not UTF-8");
  }
  const value = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("it is no object");
  }
  return value;
}

/** Of texts and truth values null is refused, of all else it is what was not said. */
function typed(line, key, kind, missing) {
  const value = line[key];
  if (value === undefined || (value === null && kind !== "boolean" && missing !== "")) {
    return missing;
  }
  if (!isOf(kind, value)) {
    throw new Error(`\`${key}\` is no ${kind}`);
  }
  return value;
}

function excerpt(data) {
  return Array.from(data.subarray(0, 4 * 60).toString()).slice(0, 60).join("");
}

function broken(data, why) {
  return new Failed(`broken JSON in line \`${excerpt(data)}\`: ${why}`);
}

/** The sentence of an error, which is a string, or an object with a message. */
function saidBy(error) {
  if (error === null || error === undefined) {
    return undefined;
  }
  const words = typeof error === "string" ? error : error.message;
  return typeof words === "string" ? words : JSON.stringify(error);
}

/** Ollama explains a refusal as `{"error": "…"}`, a gateway with an object there. */
function refused(body) {
  try {
    return saidBy(anObject(body, body.toString()).error) || excerpt(body);
  } catch {
    return excerpt(body);
  }
}

// --- HTTP by undici ------------------------------------------------------------------------------

const STALLED = "stalled: the server sent nothing for the stall timeout";
const CLOSED = ["UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"];
const RESET = ["ECONNRESET", "EPIPE"];
/** So long the address of a host may be asked for, in milliseconds: that is none of the server's
 * silence. */
const NAMES_MS = 30_000;
/** Bytes that lie there already get so long, where this process was not given time to read them:
 * timers come before sockets. undici's own timeouts give them none. */
const GRACE_MS = 20;
/** What a timer can wait for. */
const LONGEST_MS = 2 ** 31 - 1;

/** One timer a call and none a token: a deadline only ever moves away, so the timer is early at
 * worst, and then it is set again. */
class Watch {
  constructor(stallMs, stalled) {
    Object.assign(this, { stallMs, stalled, isLate: false });
    this.heard();
    this.set(stallMs);
  }

  heard() {
    this.heardMs = performance.now();
  }

  set(ms) {
    this.timer = setTimeout(() => this.look(), Math.min(ms, LONGEST_MS));
  }

  look() {
    const leftMs = this.heardMs + this.stallMs - performance.now();
    if (leftMs <= 0 && this.isLate) {
      this.stalled();
      return;
    }
    this.isLate = leftMs <= 0;
    this.set(this.isLate ? GRACE_MS : leftMs);
  }

  end() {
    clearTimeout(this.timer);
  }
}

/** An agent's client, which keeps its connection from call to call where the server does. */
class Connection {
  constructor(server, stallMs) {
    const { origin, prefix } = address(server);
    this.path = `${prefix}/api/generate`;
    this.stallMs = stallMs;
    const connectTimeout = Math.min(stallMs + NAMES_MS, LONGEST_MS);
    this.client = new Client(origin, { connectTimeout, headersTimeout: 0, bodyTimeout: 0 });
    this.isConnected = this.isReused = this.hasBegun = false;
    // Connecting has a timeout of its own.
    this.client.on("connect", () => {
      this.isConnected = true;
      this.startWatch();
    });
    this.client.on("disconnect", () => {
      this.isConnected = false;
    });
  }

  startWatch() {
    this.watch?.end();
    this.watch = new Watch(this.stallMs, () => this.abort.abort(new Failed(STALLED)));
  }

  /** One call. Every failure is a sentence. */
  async post(body, reply) {
    try {
      await this.exchangeAgain(body, reply);
    } catch (error) {
      throw error instanceof Failed ? error : new Failed(sentence(error));
    }
  }

  /** A server may close an idle connection while the next request is on its way; that one request
   * is sent again on a fresh connection. */
  async exchangeAgain(body, reply) {
    try {
      await this.exchange(body, reply);
    } catch (error) {
      const isClosed = CLOSED.includes(error.code) || RESET.includes(error.code);
      if (!isClosed || !this.isReused || this.hasBegun) {
        throw error;
      }
      await this.exchange(body, reply);
    }
    this.isReused = true;
  }

  async exchange(body, reply) {
    this.hasBegun = false;
    this.abort = new AbortController();
    const headers = { "content-type": "application/json", accept: "*/*" };
    const request = { method: "POST", path: this.path, headers, body, signal: this.abort.signal };
    try {
      if (this.isConnected) {
        this.startWatch();
      }
      const response = await this.client.request(request);
      this.hasBegun = true;
      this.watch.heard();
      reply.status = response.statusCode;
      for await (const data of response.body) {
        const receivedNs = nowNs();
        this.watch.heard();
        reply.feed(data, receivedNs);
      }
    } finally {
      this.watch?.end();
    }
    reply.finish(nowNs());
  }

  end() {
    return this.client.close();
  }
}

/** Says in the words of the family what undici says in its own. */
function sentence(error) {
  const code = error.code ?? "";
  if (code === "UND_ERR_CONNECT_TIMEOUT") {
    return STALLED;
  }
  if (RESET.includes(code) || isReset(error)) {
    return "connection reset by the server";
  }
  if (CLOSED.includes(code)) {
    return "the connection was closed inside the reply";
  }
  if (code === "ECONNREFUSED") {
    return "connection refused";
  }
  if (error.name === "HTTPParserError" || code === "UND_ERR_HEADERS_OVERFLOW") {
    return `the response is not HTTP/1.1: ${error.message}`;
  }
  return `cannot talk to the server: ${error.message}`;
}

/** Where a reset comes along with bytes, libuv tells of an end alone. A socket whose other side has
 * closed still has a peer, one that was reset has none. */
function isReset(error) {
  return error.message === "other side closed" && error.socket?.remoteAddress === undefined;
}
