import { describe, expect, it } from "vitest";
import type { Approval } from "../../src/index.ts";
import { ListServer, hubOf } from "../catalog/list-server.ts";

const tool = { name: "write", inputSchema: { type: "object", properties: { to: { type: "string" } } } };

function scene(approval: object, interact = {}) {
  const server = new ListServer({ tools: [tool] });
  return hubOf({ it: { ...server.entry, ...approval } }, { interact }).then((hub) => ({ hub, server }));
}

describe("M64 checking a call without making it", () => {
  it("says whether somebody would be asked, and sends nothing", async () => {
    const { hub, server } = await scene({ approval: "prompt" });
    expect(await hub.checkCall("it.write")).toEqual({
      outcome: "asked",
      because: "the configuration requires approval",
    });
    expect(server.count("tools/call")).toBe(0);
  });

  it("says what a rule denies, what is allowed, and what only its caller wants to be asked about", async () => {
    const denied = await scene({ approval: "deny" });
    expect(await denied.hub.checkCall("it.write")).toMatchObject({ outcome: "denied" });
    const { hub } = await scene({});
    expect(await hub.checkCall("it.write")).toEqual({ outcome: "approved" });
    expect(await hub.checkCall("it.write", {}, { approval: "auto" })).toMatchObject({ outcome: "asked" });
  });

  it("knows what was remembered", async () => {
    const approve = async (): Promise<Approval> => ({ decision: "allow", remember: "session" });
    const { hub } = await scene({ approval: "prompt" }, { approve });
    expect(await hub.checkCall("it.write")).toMatchObject({ outcome: "asked" });
    await hub.callTool("it.write");
    expect(await hub.checkCall("it.write")).toEqual({ outcome: "approved" });
  });

  it("names the tools about whose calls somebody may be asked", async () => {
    const rules = [{ when: { "/to": "x*" }, mode: "prompt" }];
    for (const [approval, expected] of [
      [{}, []],
      [{ approval: "deny" }, []],
      [{ approval: "prompt" }, ["write"]],
      [{ approval: { rules } }, ["write"]],
    ] as const) {
      const { hub } = await scene(approval);
      const asked = await hub.mayAsk(await hub.tools());
      expect(asked.map(({ name }) => name)).toEqual(expected);
    }
  });

  it("throws what the call would throw", async () => {
    const { hub } = await scene({ approval: "prompt" });
    await expect(hub.checkCall("it.write", { to: {} })).rejects.toMatchObject({ code: "arguments-invalid" });
    await expect(hub.checkCall("it.nothing")).rejects.toMatchObject({ code: "tool-unknown" });
  });
});

describe("M64 a call that was approved elsewhere", () => {
  it("asks its own `approve` in place of the view's", async () => {
    const never = async (): Promise<Approval> => Promise.reject(new Error("asked twice"));
    const { hub, server } = await scene({ approval: "prompt" }, { approve: never });
    await hub.callTool("it.write", {}, { approve: async () => ({ decision: "allow" }) });
    expect(server.count("tools/call")).toBe(1);
  });

  it("does not get around a rule that denies it", async () => {
    const { hub, server } = await scene({ approval: "deny" });
    const call = hub.callTool("it.write", {}, { approve: async () => ({ decision: "allow" }) });
    await expect(call).rejects.toMatchObject({ code: "approval-denied" });
    expect(server.count("tools/call")).toBe(0);
  });
});
