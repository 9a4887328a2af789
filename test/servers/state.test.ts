import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../src/errors.ts";
import { decide, defaultBackoff } from "../../src/servers/backoff.ts";
import { transition } from "../../src/servers/state.ts";
import type { ConnectionState, Signal } from "../../src/servers/state.ts";

const error = new PlugboardError("connection-lost", "gone");
const verdict = { next: "waiting" as const, retryAt: 5, failures: 1 };

const states: Record<ConnectionState["name"], ConnectionState> = {
  disabled: { name: "disabled", reason: "off", message: "off", hint: "" },
  ready: { name: "ready" },
  connecting: { name: "connecting", since: 1, failures: 2 },
  connected: { name: "connected", since: 1, failures: 2 },
  degraded: { name: "degraded", since: 1, failures: 2, lists: { tools: error }, error },
  waiting: { name: "waiting", retryAt: 9, failures: 2, error },
  failed: { name: "failed", retryAt: 9, failures: 6, error },
  "needs-auth": { name: "needs-auth", error },
  "needs-registration": { name: "needs-registration", error },
  closed: { name: "closed" },
};

const signals: Record<Signal["type"], Signal> = {
  connect: { type: "connect", at: 3 },
  detail: { type: "detail", detail: "installing" },
  connected: { type: "connected", at: 4 },
  failed: { type: "failed", error, verdict },
  lost: { type: "lost", error, verdict },
  "list-failed": { type: "list-failed", list: "tools", error },
  "list-refreshed": { type: "list-refreshed", list: "tools" },
  disconnect: { type: "disconnect" },
  disable: { type: "disable", reason: "policy", message: "no", hint: "" },
  enable: { type: "enable" },
  close: { type: "close" },
};

/** Rows: the state. Columns: the state after each signal; `.` means no change. */
const order = [
  "connect",
  "detail",
  "connected",
  "failed",
  "lost",
  "list-failed",
  "list-refreshed",
  "disconnect",
  "disable",
  "enable",
  "close",
] as const;
const table: Record<ConnectionState["name"], string[]> = {
  disabled: [".", ".", ".", ".", ".", ".", ".", ".", "disabled", "ready", "closed"],
  ready: ["connecting", ".", ".", ".", ".", ".", ".", ".", "disabled", ".", "closed"],
  connecting: [".", "connecting", "connected", "waiting", ".", ".", ".", "ready", "disabled", ".", "closed"],
  connected: [".", ".", ".", ".", "waiting", "degraded", ".", "ready", "disabled", ".", "closed"],
  degraded: [".", ".", ".", ".", "waiting", "degraded", "connected", "ready", "disabled", ".", "closed"],
  waiting: ["connecting", ".", ".", ".", ".", ".", ".", "ready", "disabled", ".", "closed"],
  failed: ["connecting", ".", ".", ".", ".", ".", ".", "ready", "disabled", ".", "closed"],
  "needs-auth": ["connecting", ".", ".", ".", ".", ".", ".", "ready", "disabled", ".", "closed"],
  "needs-registration": ["connecting", ".", ".", ".", ".", ".", ".", "ready", "disabled", ".", "closed"],
  closed: [".", ".", ".", ".", ".", ".", ".", ".", ".", ".", "."],
};

describe("M23 the states of a connection", () => {
  it.each(Object.keys(states) as ConnectionState["name"][])("%s reacts as the table says", (name) => {
    const reactions = order.map((type) => {
      const next = transition(states[name], signals[type]);
      return next === states[name] ? "." : next.name;
    });
    expect(reactions).toEqual(table[name]);
  });

  it("keeps its promises in every order of events", () => {
    const anySignal = fc.constantFrom(...Object.values(signals));
    fc.assert(
      fc.property(fc.array(anySignal, { maxLength: 40 }), (sequence) => {
        let state: ConnectionState = { name: "ready" };
        let closed = false;
        for (const signal of sequence) {
          const next = transition(state, signal);
          if (closed) expect(next).toBe(state);
          if (next.name === "connected" && next !== state)
            expect(["connecting", "degraded"]).toContain(state.name);
          if (next.name === "waiting" && next !== state)
            expect(["connecting", "connected", "degraded"]).toContain(state.name);
          if (state.name === "disabled" && next.name !== "disabled")
            expect(["enable", "close"]).toContain(signal.type);
          if (signal.type === "close") closed = true;
          state = next;
        }
        expect(state.name === "closed").toBe(closed);
      }),
    );
  });
});

describe("M23 what a state remembers", () => {
  it("connecting alone does not reset the failure count", () => {
    const up = transition(states.connecting, signals.connected);
    expect(up).toMatchObject({ name: "connected", failures: 2 });
    expect(transition(up, signals["list-failed"])).toMatchObject({ name: "degraded", failures: 2 });
  });

  it("what a start waits for is over when it is told so", () => {
    const waiting = transition(states.connecting, { type: "detail", detail: "waiting for its turn" });
    expect(waiting).toMatchObject({ name: "connecting", detail: "waiting for its turn" });
    expect(transition(waiting, { type: "detail", detail: "" })).toEqual(states.connecting);
  });

  it("a new attempt keeps the error of the last one until it succeeds", () => {
    const again = transition(states.waiting, signals.connect);
    expect(again).toMatchObject({ name: "connecting", error });
    expect(transition(again, signals.connected)).not.toHaveProperty("error");
    expect(transition(states.ready, signals.connect)).not.toHaveProperty("error");
  });

  it("enabling or disabling does not override policy, missing trust or invalid config", () => {
    const off: Signal = { type: "disable", reason: "off", message: "off", hint: "" };
    for (const reason of ["policy", "untrusted", "invalid", "missing-value"] as const) {
      const state: ConnectionState = { name: "disabled", reason, message: "no", hint: "" };
      expect(transition(transition(state, off), signals.enable)).toBe(state);
    }
  });
});

describe("M24 backoff and breaker", () => {
  const fail = (
    code: ConstructorParameters<typeof PlugboardError>[0],
    failures: number,
    extra: object = {},
  ) => decide({ error: new PlugboardError(code, "x"), failures, at: 1000, ...extra }, defaultBackoff, 1);

  it("retries a broken connection immediately, then at growing intervals up to the maximum", () => {
    expect(fail("connection-lost", 0, { lastedMs: 60_000 })).toEqual({
      next: "waiting",
      retryAt: 1000,
      failures: 1,
    });
    const delays = [0, 1, 2, 3, 4].map((failures) => {
      const next = fail("server-exited", failures);
      return next.next === "waiting" ? next.retryAt - 1000 : next.next;
    });
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  it("opens the breaker after too many failures in a row, but a healthy connection resets the count", () => {
    expect(fail("server-exited", 5)).toMatchObject({ next: "failed", failures: 6 });
    expect(fail("server-exited", 5, { lastedMs: 20_000 })).toMatchObject({ next: "waiting", failures: 1 });
    expect(fail("server-exited", 5, { lastedMs: 10 })).toMatchObject({ next: "failed" });
  });

  it("reconnects within a second to a remote server that was useful, however often it disconnects", () => {
    const useful = { lastedMs: 10, wasUseful: true };
    expect(fail("connection-lost", 5, useful)).toMatchObject({ next: "waiting", retryAt: 2000, failures: 2 });
    expect(fail("server-exited", 5, useful)).toMatchObject({ next: "failed" });
    const forgotten = new PlugboardError("connection-lost", "x", { data: { reason: "session-lost" } });
    expect(decide({ error: forgotten, failures: 5, at: 0, lastedMs: 1 }, defaultBackoff, 1)).toMatchObject({
      retryAt: 0,
    });
  });

  it("does not retry failures that waiting cannot fix, and honours Retry-After", () => {
    expect(fail("spawn-failed", 0)).toMatchObject({ next: "failed" });
    expect(fail("auth-required", 0)).toEqual({ next: "needs-auth" });
    expect(fail("registration-required", 0)).toEqual({ next: "needs-registration" });
    const limited = new PlugboardError("rate-limited", "x", { retryAfterMs: 7000 });
    expect(decide({ error: limited, failures: 0, at: 0 }, defaultBackoff, 0)).toMatchObject({
      retryAt: 7000,
    });
  });

  it("spreads retries, so that many clients do not come back together", () => {
    const at = (random: number) => decide({ error, failures: 3, at: 0 }, defaultBackoff, random);
    expect(at(0)).toMatchObject({ retryAt: 2000 });
    expect(at(1)).toMatchObject({ retryAt: 4000 });
  });
});
