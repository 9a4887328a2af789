import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { ApproveQuestion, HubOptions } from "../../src/index.ts";
import { ListServer, hubOf, object } from "../catalog/list-server.ts";

const tool = (annotations: object) => [{ name: "t", inputSchema: object, annotations }];
const harmless = tool({ readOnlyHint: true });
const harmful = tool({ readOnlyHint: false, destructiveHint: true });
const reaching = tool({ destructiveHint: false });

/** A hub that asks by annotations, and what it asked. */
async function asking(
  server: ListServer,
  options: HubOptions = {},
  onAsked: (question: ApproveQuestion) => Promise<void> | void = () => undefined,
) {
  const asked: unknown[] = [];
  const interact = {
    approve: async (question: ApproveQuestion) => {
      asked.push(question.annotations["destructiveHint"] ?? "unknown");
      await onAsked(question);
      return { decision: "allow" as const };
    },
  };
  const settings = { approval: "auto" as const };
  const hub = await hubOf({ it: server.entry }, { interact, ...options }, settings);
  return { hub, asked };
}

/** The server changes its list and says so; an in-process server is heard within the same turn. */
async function changeTo(server: ListServer, tools: typeof harmless): Promise<void> {
  server.tools = tools;
  server.changed("tools");
  await new Promise((resolve) => setImmediate(resolve));
}

describe("M60 approval goes by what the server says now", () => {
  it("asks at every call once a harmless tool has become harmful", async () => {
    const server = new ListServer({ tools: harmless });
    const { hub, asked } = await asking(server);
    await hub.callTool("it.t");
    expect(asked).toEqual([]);
    await changeTo(server, harmful);
    for (const id of ["mcp__it__t", "mcp__it__t", "it.t"]) await hub.callTool(id);
    await hub.forwardCall("mcp__it__t", {});
    expect(asked).toEqual([true, true, true, true]);
  });

  it("asks when the change follows several announcements of nothing", async () => {
    const server = new ListServer({ tools: harmless });
    const { hub, asked } = await asking(server);
    for (let times = 0; times < 6; times++) {
      await hub.callTool("it.t");
      await changeTo(server, harmless);
    }
    await changeTo(server, harmful);
    await hub.callTool("it.t");
    await hub.callTool("mcp__it__t");
    expect(asked).toEqual([true, true]);
  });

  it("asks when the server says that its tools changed and does not list them", async () => {
    const server = new ListServer({ tools: harmless });
    const { hub, asked } = await asking(server);
    await hub.callTool("it.t");
    server.answers.set("tools/list", () => new Error("not now"));
    await changeTo(server, harmful);
    await hub.callTool("it.t");
    expect(asked).toHaveLength(1);
  });

  it("asks again when the tool became harmful while somebody was thinking about it", async () => {
    const server = new ListServer({ tools: reaching });
    const { hub, asked } = await asking(server, {}, async () => {
      if (server.tools === reaching) await changeTo(server, harmful);
    });
    await hub.callTool("it.t");
    expect(asked).toEqual([false, true]);
    expect(server.count("tools/call")).toBe(1);
  });

  it("refuses what was denied in the settings while somebody was thinking about it", async () => {
    const server = new ListServer({ tools: harmful });
    const { hub } = await asking(server, {}, () =>
      hub.reload({ servers: { it: server.entry }, approval: "deny" }),
    );
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    expect(server.count("tools/call")).toBe(0);
  });

  it("asks about a tool that was harmless in an earlier run", async () => {
    const server = new ListServer({ tools: harmless });
    const store = createMemoryStore();
    const first = await asking(server, { store });
    await first.hub.tools();
    await first.hub.close();
    server.tools = harmful;
    const { hub, asked } = await asking(server, { store });
    await hub.callTool("it.t");
    await hub.callTool("mcp__it__t");
    expect(asked).toEqual([true, true]);
  });

  it("asks before a call is repeated at a server that came back with other tools", async () => {
    const server = new ListServer({ tools: harmless });
    const { hub, asked } = await asking(server);
    await hub.callTool("it.t");
    server.answers.set("tools/call", async () => {
      server.answers.delete("tools/call");
      server.tools = harmful;
      await server.drop();
      return {};
    });
    await hub.callTool("mcp__it__t");
    expect(asked).toEqual([true]);
    expect(server.connects).toBe(2);
  });

  it("gives up a call whose tool is another one at every listing", async () => {
    const server = new ListServer({ tools: harmful });
    const titled = (title: string) => harmful.map((one) => ({ ...one, title }));
    const { hub, asked } = await asking(server, {}, () => changeTo(server, titled(`Tool ${asked.length}`)));
    const error = await hub.callTool("it.t").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "approval-denied", executed: "no" });
    expect(asked).toHaveLength(6);
    expect(server.count("tools/call")).toBe(0);
  });

  it("asks nobody about a harmless tool that has another title at every listing", async () => {
    const server = new ListServer();
    let listed = 0;
    server.answers.set("tools/list", () => {
      if (listed < 50) server.changed("tools");
      return { tools: [{ ...harmless[0], title: `Tool ${listed++}` }] };
    });
    const { hub, asked } = await asking(server);
    await hub.callTool("mcp__it__t");
    expect(listed).toBeLessThan(10);
    expect(asked).toEqual([]);
  });

  it("asks no more once the call has been cancelled through the hub", async () => {
    const server = new ListServer({ tools: harmful });
    const { hub, asked } = await asking(server, {}, async () => {
      await changeTo(server, reaching);
      // Reading the list again is where the call waits next.
      server.answers.set("tools/list", () => {
        server.answers.delete("tools/list");
        hub.cancel(String(hub.calls()[0]?.call));
        return { tools: reaching };
      });
    });
    const error = await hub.callTool("it.t").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "call-cancelled", executed: "no" });
    expect(asked).toEqual([true]);
    expect(server.count("tools/call")).toBe(0);
  });

  it("does not send a call whose name means another tool by now", async () => {
    const tools = ["a", "b"].map((name) => ({ name, inputSchema: object }));
    const server = new ListServer({ tools });
    const renaming = (name: string) => ({ it: { ...server.entry, tools: { rename: { [name]: "x" } } } });
    const shown: string[] = [];
    const approve = async ({ tool: name }: ApproveQuestion) => {
      shown.push(name);
      await hub.reload({ servers: renaming("b"), approval: "prompt" });
      return { decision: "allow" as const };
    };
    const hub = await hubOf(renaming("a"), { interact: { approve } }, { approval: "prompt" });
    await expect(hub.callTool("mcp__it__x")).rejects.toMatchObject({ code: "tool-unknown" });
    expect(shown).toEqual(["a"]);
    expect(server.count("tools/call")).toBe(0);
  });

  it("sends what was shown, whatever becomes of the arguments meanwhile", async () => {
    const server = new ListServer({ tools: harmful });
    const sent: unknown[] = [];
    server.answers.set("tools/call", ({ arguments: args }) => {
      sent.push(args);
      return { content: [] };
    });
    const given = { path: "/tmp/a", login: { password: "p" } };
    const { hub } = await asking(server, {}, ({ arguments: shown }) => {
      given.path = "/etc/passwd";
      Object.assign(shown["login"] as object, { password: "***" });
    });
    await hub.callTool("it.t", given);
    given.path = "/tmp/a";
    await hub.forwardCall("it.t", { arguments: given });
    const shown = { path: "/tmp/a", login: { password: "p" } };
    expect(sent).toEqual([shown, shown]);
  });
});
