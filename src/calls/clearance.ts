import { PlugboardError } from "../errors.ts";
import { pinMismatch } from "../catalog/pin-problem.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { SessionCheck } from "../servers/session.ts";
import { approvalFields } from "../config/approval/origin.ts";
import { leadsElsewhere } from "../servers/connection-errors.ts";
import { waitCancelled } from "../lib/abortable.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import { approve, isAllowed, stillAllows } from "./approve.ts";
import type { Approvable, ApproveContext, Verdict } from "./approve.ts";
import type { Call } from "./call-log.ts";
import type { CallContext, PrepareOptions } from "./send.ts";
import { ownCopy } from "./serializable.ts";
import { fitArguments } from "./validate.ts";

/**
 * Permission to send one call. It holds for a tool as its server lists it in one session. When the tool, the rules or
 * the session are different by the time the call is sent, the call is judged anew.
 */
export class Clearance implements SessionCheck {
  session: number | undefined;
  #tool: ToolEntry;
  #verdict: Verdict | undefined;
  #target: TargetIdentity | undefined;
  #asked = 0;
  #waiting: { signal: AbortSignal; outer: Call["trace"]["cancel"] } | undefined;
  readonly #given: Record<string, unknown>;
  #args: Record<string, unknown>;
  readonly #call: Call;
  readonly #options: PrepareOptions;
  readonly #context: CallContext;

  /** `given` is what the arguments were made from. */
  constructor(
    tool: ToolEntry,
    given: Record<string, unknown>,
    args: Record<string, unknown>,
    call: Call,
    options: PrepareOptions,
    context: CallContext,
  ) {
    this.#tool = tool;
    this.#given = given;
    this.#args = args;
    this.#call = call;
    this.#options = options;
    this.#context = context;
    this.session = call.route.sessionNumber;
  }

  /** A call can wait for its turn for as long as a person takes to answer another one. */
  get isStale(): boolean {
    return this.#context.loaded !== this.#call.route.loaded;
  }

  /** What the call may run or contact. */
  get target(): TargetIdentity | undefined {
    return this.#target;
  }

  /** What is sent. */
  get args(): Record<string, unknown> {
    return this.#args;
  }

  /**
   * Allows the call at once (returns undefined), or settles when somebody has been asked. `isOwn` if nobody else holds the
   * arguments; others could change them while somebody is asked about them.
   */
  approve(isOwn: boolean): Promise<void> | undefined {
    const rules = this.#rules(this.#tool);
    const { target } = this.#call.route;
    if (isAllowed(this.#about(this.#tool, target), rules)) {
      this.#target = target;
      return undefined;
    }
    if (!isOwn) this.#args = ownCopy(this.#args);
    return this.#settle(approve(this.#about(this.#tool, target), rules));
  }

  /** The call is about to be sent over another session than it was judged for. */
  again(target: TargetIdentity): Promise<void> {
    return this.#settle(undefined, target);
  }

  /** The server refused the call, because its list says something else by now. */
  async reread(): Promise<void> {
    await this.#context.catalog.refresh(this.#call.route.key, ["tools"], this.#untilGivenUp());
    return this.#settle(undefined);
  }

  /** People take their time, and servers change: what holds afterwards counts. */
  async #settle(asked: Promise<Verdict> | undefined, sentTo?: TargetIdentity): Promise<void> {
    const signal = this.#untilGivenUp();
    try {
      for (let asking = asked; ;) {
        this.#verdict = (await asking) ?? this.#verdict;
        const now = await findForCall(this.#tool.id, signal, this.#context);
        this.#reroute(sentTo !== undefined);
        this.session = this.#call.route.sessionNumber;
        if (now !== this.#tool) this.#assertSameCall(now);
        this.#tool = now;
        // Where nothing is connected, what was shown counts, and the connection is compared with it.
        const target = sentTo ?? this.#call.route.target ?? this.#verdict?.target;
        const about = this.#about(now, target);
        this.#target = target;
        if (stillAllows(this.#verdict, about, this.#rules(now))) return;
        if (signal.aborted) throw waitCancelled(signal, now.server);
        if (++this.#asked > mostAsked) throw alwaysAnother(now);
        if (isAllowed(about, this.#rules(now))) return;
        asking = approve(about, this.#rules(now));
      }
    } finally {
      this.#call.trace.cancel = this.#waiting?.outer;
      this.#waiting = undefined;
    }
  }

  /** The configuration may be another by now: what it says, and where the call goes. */
  #reroute(isOnItsWay: boolean): void {
    const { route } = this.#call;
    const now = this.#context.route(route.server);
    const isElsewhere = now.key.text !== route.key.text;
    if (isElsewhere && isOnItsWay) throw leadsElsewhere(route.server);
    // An answer was for the connection that the call would have used.
    if (isElsewhere) this.#verdict = undefined;
    if (isElsewhere || now.loaded !== route.loaded) this.#call.route = now;
  }

  /** What was prepared for a tool is sent only while the same call would be prepared for it. */
  #assertSameCall(now: ToolEntry): void {
    const { server, name, id } = this.#tool;
    if (now.server !== server || now.name !== name)
      throw new PlugboardError("tool-unknown", `The tool ${name} of "${server}" is no longer called ${id}.`, {
        server,
        tool: id,
      });
    assertAvailable(now);
    const { fitted } = fitArguments(now, this.#given, this.#call.route.config, this.#context.validators);
    if (JSON.stringify(fitted) === JSON.stringify(this.#args)) return;
    throw new PlugboardError(
      "arguments-invalid",
      `The arguments of ${name} would not be the same any more, because the tool or its configuration changed.`,
      { server, tool: id, advice: "Call it again." },
    );
  }

  #about(tool: ToolEntry, target: TargetIdentity | undefined): Approvable {
    return { tool, args: this.#args, call: this.#call, target, headers: this.#options.headers };
  }

  #rules({ server }: ToolEntry): ApproveContext {
    const { config, loaded } = this.#call.route;
    return {
      fields: approvalFields(server, loaded),
      isUntrusted: config.untrusted === true,
      otherwise: this.#options.approval ?? "approve",
      context: this.#context,
      waiting: this.#options,
      signal: () => this.#untilGivenUp(),
    };
  }

  /** Aborted when the call is given up, by whoever called or through the hub. */
  #untilGivenUp(): AbortSignal {
    if (this.#waiting) return this.#waiting.signal;
    const { trace } = this.#call;
    const { signal: given } = this.#options;
    const { cancel: outer, cancelled } = trace;
    const stop = new AbortController();
    trace.cancel = (reason) => {
      stop.abort(reason);
      outer?.(reason);
    };
    if (cancelled) stop.abort(cancelled);
    const signal = given ? AbortSignal.any([given, stop.signal]) : stop.signal;
    this.#waiting = { signal, outer };
    return signal;
  }
}

/** How often a tool may turn into one that needs another approval before its call is given up. */
const mostAsked = 5;

function alwaysAnother({ server, id, name }: ToolEntry): PlugboardError {
  return new PlugboardError(
    "approval-denied",
    `The call of ${name} on "${server}" was not approved: its server lists the tool differently each time.`,
    { server, tool: id, hint: "Report it to the server's author." },
  );
}

export function assertAvailable({ status, because, id, server, name, pin }: ToolEntry): void {
  if (status === "available") return;
  if (pin) throw pinMismatch("tool", { server, name, because, id });
  throw new PlugboardError("tool-hidden", `The tool ${name} of "${server}" cannot be called: ${because}.`, {
    server,
    tool: id,
  });
}

/** The tool that a call means; there at once when its list is known. */
export function findForCall(
  id: string,
  signal: AbortSignal | undefined,
  { catalog, scope, signedIn }: CallContext,
): ToolEntry | Promise<ToolEntry> {
  return catalog.known(id, scope) ?? signedIn(signal, () => catalog.toCall(id, scope, signal));
}
