import type { Wire } from "./wire.ts";

export type Fields = Record<string, unknown>;

/** Something that a client saw, in order. */
export interface Seen {
  kind: "answer" | "question" | "notification";
  /** The id of the request on whose stream it came, `standing` or `pipe`. */
  stream: string;
  method?: string;
  params?: Fields;
  id?: unknown;
  /** As it came. */
  text: string;
}

export interface Answer {
  result?: Fields;
  error?: { code: number; message: string; data?: unknown };
  /** The whole message as it came. */
  text: string;
  status: number;
}

/** A request on its way. */
export interface Sent {
  readonly id: number;
  readonly answer: Promise<Answer>;
  /** Takes it back, as the era and the transport require. */
  cancel(): void;
}

export interface RequestOptions {
  progressToken?: string | number;
  /** Parameters as JSON text, for what JavaScript cannot hold. The client's `_meta` is put in front. */
  rawParams?: string;
  headers?: Record<string, string>;
}

export interface Filter {
  tools?: boolean;
  prompts?: boolean;
  resources?: boolean;
  uris?: string[];
}

/** Whoever is asked. Throws a `ClientRefusal` for an error. */
export type AnswerQuestion = (method: string, params: Fields) => Fields | Promise<Fields>;

export class ClientRefusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ClientOptions {
  capabilities?: Fields;
  answer?: AnswerQuestion;
  /** Legacy: the revision to ask for. */
  revision?: string;
}

export type Era = "legacy" | "modern";

const patienceMs = 15_000;

/** A small MCP client of either era on either transport that records everything it sees. */
export abstract class TestClient {
  abstract readonly era: Era;
  readonly wire: Wire;
  readonly seen: Seen[] = [];
  /** What the server said about itself. */
  server: Fields = {};
  answer: AnswerQuestion;
  readonly capabilities: Fields;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  readonly #watchers = new Set<() => void>();
  #issued = 0;

  constructor(wire: Wire, { capabilities = {}, answer }: ClientOptions) {
    this.wire = wire;
    this.capabilities = capabilities;
    this.answer =
      answer ??
      ((method) => {
        throw new ClientRefusal(-32_601, `${method} was not expected`);
      });
    wire.onMessage = (text, stream, status) => this.#receive(text, stream, status);
  }

  /** The handshake. */
  abstract open(): Promise<void>;
  /** One request; a question that is an answer is returned as it is. */
  abstract once(method: string, params?: Fields, options?: RequestOptions): Sent;
  /** One request, and again with what the server asks for. */
  abstract request(method: string, params?: Fields, options?: RequestOptions): Sent;
  /** Resolves when the server will tell of these changes. */
  abstract listen(filter: Filter): Promise<void>;
  /** From now on; undefined for no log messages. */
  abstract setLogLevel(level: string | undefined): Promise<void>;
  abstract notify(method: string, params?: Fields): Promise<void>;
  protected abstract question(id: unknown, method: string, params: Fields): void;

  call(tool: string, args: Fields = {}, options?: RequestOptions): Sent {
    return this.request("tools/call", { name: tool, arguments: args }, options);
  }

  /** The result of a request; fails if there is none. */
  async result(sent: Sent): Promise<Fields> {
    const { result, error, status } = await sent.answer;
    if (!result) throw new Error(`no result but ${JSON.stringify(error)} (HTTP ${status})`);
    return result;
  }

  close(): Promise<void> {
    return this.wire.close();
  }

  disconnect(): void {
    this.wire.disconnect();
  }

  notifications(method: string): Seen[] {
    return this.seen.filter((one) => one.kind === "notification" && one.method === method);
  }

  questions(): Seen[] {
    return this.seen.filter(({ kind }) => kind === "question");
  }

  /** Resolves with the first that matches, seen already or yet to come. */
  sees(what: string, matches: (seen: Seen) => boolean): Promise<Seen> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.seen.find((one) => matches(one));
        if (!found) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#watchers.delete(look);
        reject(new Error(`did not see ${what}, but ${JSON.stringify(this.seen).slice(0, 2000)}`));
      }, patienceMs);
      this.#watchers.add(look);
      look();
    });
  }

  protected record(seen: Seen): void {
    this.seen.push(seen);
    for (const look of this.#watchers) look();
  }

  /** Sends a request and waits for what answers its id. */
  protected issue(write: (id: number) => { text: string; headers?: Record<string, string> }): Sent {
    const id = ++this.#issued;
    const leave = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#pending.set(id, resolve);
    const { text, headers = {} } = write(id);
    this.wire
      .send(text, { stream: String(id), headers, signal: leave.signal })
      .then(({ status, body }) => {
        // Over HTTP nothing more can come.
        if (this.wire.transport === "http") this.#settle(id, { text: body, status });
      })
      .catch((error: unknown) => reject(error as Error));
    promise.catch(() => {});
    return { id, answer: promise, cancel: () => this.cancel(id, leave) };
  }

  protected abstract cancel(id: number, leave: AbortController): void;

  #settle(id: number, answer: Answer): void {
    this.#pending.get(id)?.(answer);
    this.#pending.delete(id);
  }

  #receive(text: string, stream: string, status: number): void {
    const message = JSON.parse(text) as Fields;
    const params = (message["params"] ?? {}) as Fields;
    const { id, method } = message as { id?: unknown; method?: string };
    if (method === undefined) {
      this.record({ kind: "answer", stream, id, text });
      const { result, error } = message as Pick<Answer, "result" | "error">;
      const answer = { ...(result && { result }), ...(error && { error }), text, status };
      // What is refused before it is read has no id.
      this.#settle(this.#pending.has(id as number) ? (id as number) : Number(stream), answer);
    } else if (id === undefined) {
      this.record({ kind: "notification", stream, method, params, text });
    } else {
      this.record({ kind: "question", stream, method, params, id, text });
      this.question(id, method, params);
    }
  }
}
