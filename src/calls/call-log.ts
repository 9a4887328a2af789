import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { CallEnd, CallStart, PlugboardEvent } from "../events.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { EventStream } from "../lib/event-stream.ts";
import { isRecord } from "../lib/record.ts";
import { Slots } from "../lib/transient.ts";
import { summarise } from "../servers/connection-errors.ts";
import type { Route } from "../servers/route.ts";
import type { Progress } from "../servers/rpc/messages.ts";
import type { OutputNote } from "./output/output.ts";
import type { RequestTrace } from "../servers/rpc/requests.ts";

/** A call under way, or one that has ended. JSON-safe, without arguments and results. */
export interface CallRecord {
  call: string;
  server: string;
  tool: string;
  caller?: string;
  account?: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Absent while it is under way. */
  outcome?: CallEnd["outcome"];
  durationMs?: number;
}

type Facts = Pick<CallRecord, "call" | "server" | "tool" | "caller" | "account">;
type ShownArguments = (args: Record<string, unknown>, route: Route) => Record<string, unknown>;

const kept = 1_000;

/** The calls of a hub: those under way, and the last thousand. Tells of each by `call-start` and `call-end`. */
export class CallLog {
  readonly #events: EventStream<PlugboardEvent>;
  readonly #now: () => number;
  /** What watchers may see of the arguments; absent if they see none. */
  readonly #shown: ShownArguments | undefined;
  readonly #underWay = new Slots<Call>();
  /** A ring whose places are written over, so that remembering a call leaves nothing to collect. */
  readonly #recent: EndedCall[] = [];
  #ended = 0;
  #begun = 0;

  constructor(events: EventStream<PlugboardEvent>, now: () => number, shown?: ShownArguments) {
    this.#events = events;
    this.#now = now;
    this.#shown = shown;
  }

  begin(tool: ToolEntry, route: Route, args?: unknown): Call {
    const call = new Call(++this.#begun, tool, route, this.#now(), this);
    call.place = this.#underWay.add(call);
    call.trace.isMeasured = this.#events.hasListeners;
    if (call.trace.isMeasured) {
      const event: CallStart = call.about("call-start", call.at);
      if (this.#shown && isRecord(args)) event.arguments = this.#shown(args, route);
      this.#events.emit(event);
    }
    return call;
  }

  /** For calls: tells of progress. */
  progressed(call: Call, { progress, total, message }: Progress): void {
    if (!this.#events.hasListeners) return;
    const step = {
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    this.#events.emit({ ...call.about("call-progress", this.#now()), ...step });
  }

  /** For calls: counts once. */
  ended(call: Call, outcome: CallEnd["outcome"], error: unknown, output?: OutputNote): void {
    if (call.place === undefined) return;
    this.#underWay.remove(call.place);
    call.place = undefined;
    const at = this.#now();
    const durationMs = at - call.at;
    const place = this.#ended++ % kept;
    (this.#recent[place] ??= new EndedCall()).remember(call, durationMs, outcome);
    if (!this.#events.hasListeners) return;
    const { requestBytes, resultBytes } = call.trace;
    const event: CallEnd = { ...call.about("call-end", at), durationMs, outcome };
    if (requestBytes !== undefined) event.requestBytes = requestBytes;
    if (resultBytes !== undefined) event.resultBytes = resultBytes;
    if (output) event.output = { tokens: output.tokens, cut: output.cut };
    if (isPlugboardError(error)) event.error = summarise(error);
    this.#events.emit(event);
  }

  /** Those under way, then the last ones that ended, the newest first. */
  list(): CallRecord[] {
    const from = this.#ended % kept;
    const oldestFirst = [...this.#recent.slice(from), ...this.#recent.slice(0, from)];
    const underWay = [...this.#underWay]
      .toSorted((one, other) => one.number - other.number)
      .map((call) => ({ ...factsOf(call), at: call.at }));
    return [...underWay, ...oldestFirst.reverse().map((call) => call.record)];
  }

  /** Gives a call up, wherever it is; its server is told. */
  cancel(call: string): void {
    const known = [...this.#underWay].find(({ id }) => id === call);
    if (!known) {
      const hint = "It has ended; `hub.calls()` lists those under way.";
      throw new PlugboardError("usage-invalid", `There is no call "${call}" under way.`, { hint });
    }
    known.cancel();
  }
}

/** One call on its way. */
export class Call {
  readonly trace: RequestTrace = {
    cancelled: undefined,
    cancel: undefined,
    requests: undefined,
    id: "",
    isModern: false,
    isMeasured: false,
    resultBytes: undefined,
  };
  /** For the log: where it is while it is under way. */
  place: number | undefined;
  readonly number: number;
  readonly server: string;
  readonly tool: string;
  readonly caller: string | undefined;
  readonly account: string | undefined;
  /** Where it goes; another configuration may change that until it is sent. */
  route: Route;
  readonly at: number;
  readonly #log: CallLog;
  #id: string | undefined;

  constructor(number: number, { server, id }: ToolEntry, route: Route, at: number, log: CallLog) {
    this.number = number;
    this.server = server;
    this.tool = id;
    this.caller = route.use.caller;
    this.account = route.key.account;
    this.route = route;
    this.at = at;
    this.#log = log;
  }

  get id(): string {
    return (this.#id ??= `c${this.number}`);
  }

  /** What every event says about it. */
  about<T extends string>(type: T, at: number): { type: T; at: number } & Facts {
    const { id, server, tool } = this;
    return addWhose({ type, call: id, server, tool, at }, this);
  }

  /** Gives it up, wherever it is; its server is told. */
  cancel(): void {
    if (this.place === undefined) return;
    const { trace, server, id } = this;
    const reason = new PlugboardError("call-cancelled", `The call ${id} was cancelled.`, { server });
    trace.cancelled = reason;
    if (trace.requests && trace.id !== undefined) trace.requests.abort(trace.id, reason);
    else trace.cancel?.(reason);
  }

  progress(step: Progress): void {
    this.#log.progressed(this, step);
  }

  end(outcome: CallEnd["outcome"], error?: unknown, output?: OutputNote): void {
    this.#log.ended(this, outcome, error, output);
  }
}

class EndedCall {
  number = 0;
  server = "";
  tool = "";
  caller: string | undefined;
  account: string | undefined;
  at = 0.5;
  durationMs = 0.5;
  outcome: CallEnd["outcome"] = "ok";

  remember(
    { number, server, tool, caller, account, at }: Call,
    durationMs: number,
    outcome: CallEnd["outcome"],
  ) {
    this.number = number;
    this.server = server;
    this.tool = tool;
    this.caller = caller;
    this.account = account;
    this.at = at;
    this.durationMs = durationMs;
    this.outcome = outcome;
  }

  get record(): CallRecord {
    const { at, durationMs, outcome } = this;
    return { ...factsOf(this), at, durationMs, outcome };
  }
}

function factsOf(call: Call | EndedCall): Facts {
  const { number, server, tool } = call;
  return addWhose({ call: `c${number}`, server, tool }, call);
}

function addWhose<F extends Facts>(facts: F, { caller, account }: Call | EndedCall): F {
  if (caller !== undefined) facts.caller = caller;
  if (account !== undefined) facts.account = account;
  return facts;
}
