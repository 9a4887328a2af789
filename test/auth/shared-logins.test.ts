import { describe, expect, it, vi } from "vitest";
import type { Hub } from "../../src/index.ts";
import type { ProtectedOptions } from "../fixtures/auth/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { add, browser, openScene, refusal, requestsOf } from "./oauth-fixture.ts";

const writes: ProtectedOptions = { requires: { all: ["read"], tools: { add: ["write"] } } };

/** A person who agrees, and how often that was needed. */
function person() {
  const asked: string[][] = [];
  const logIn = async ({ scopes }: { scopes: string[] }) => {
    asked.push(scopes);
    return browser();
  };
  return { asked, interact: { logIn } };
}

function call(hub: Hub, caller: string, tool: string, args: object = {}): Promise<unknown> {
  return hub
    .view({ caller })
    .forwardCall(`issues.${tool}`, { arguments: args })
    .then(
      (answer) => ("error" in answer ? answer : "done"),
      (error: unknown) => error,
    );
}

describe.each(["caller", "call"])("a login for more rights, with connections for each %s", (isolation) => {
  it("leaves the calls of others alone", async () => {
    // The answer to `echo` waits for the `add` that is let through.
    const script: Script = {
      on: [{ when: { tool: "echo" }, do: [{ waitFor: { tool: "add" } }, { default: true }] }],
    };
    const scene = await openScene({}, writes, script);
    const { asked, interact } = person();
    const hub = await scene.hub({ isolation }, { interact });
    await hub.login("issues", browser());
    const slow = call(hub, "ada", "echo", { text: "hi" });
    await vi.waitFor(() => expect(requestsOf(scene.server, "tools/call")).toHaveLength(1), 10_000);
    expect(await call(hub, "bob", "add", { a: 1, b: 2 })).toBe("done");
    expect(await slow).toBe("done");
    expect(asked).toEqual([["write"]]);
  });

  it("reaches every caller", async () => {
    const scene = await openScene({}, writes);
    const { asked, interact } = person();
    const hub = await scene.hub({ isolation }, { interact });
    await hub.login("issues", browser());
    await hub.tools();
    for (const caller of ["ada", "bob"]) expect(await call(hub, caller, "echo", { text: "hi" })).toBe("done");
    for (const caller of ["ada", "bob", "ada"])
      expect(await call(hub, caller, "add", { a: 1, b: 2 })).toBe("done");
    expect(asked).toEqual([["write"]]);
  });
});

describe("a login that another process made", () => {
  it("is used by every caller that waits for one", async () => {
    const scene = await openScene();
    const hub = await scene.hub({ isolation: "caller" });
    expect(await call(hub, "ada", "echo", { text: "hi" })).toMatchObject({ code: "auth-required" });
    await (await scene.hub()).login("issues", browser());
    expect(await call(hub, "bob", "echo", { text: "hi" })).toBe("done");
    expect(await call(hub, "ada", "echo", { text: "hi" })).toBe("done");
  });

  it("is used when a call lacks rights that it has", async () => {
    const scene = await openScene({}, writes);
    const hub = await scene.hub();
    await hub.login("issues", browser());
    expect(await refusal(add(hub))).toMatchObject({ data: { reason: "insufficient-scope" } });
    await (await scene.hub()).login("issues", { scopes: ["+write"], ...browser() });
    expect(await Promise.all([add(hub), add(hub)])).toEqual([{ sum: 3 }, { sum: 3 }]);
  });

  it("makes a question unnecessary", async () => {
    const scene = await openScene({}, writes);
    const { asked, interact } = person();
    const hub = await scene.hub({}, { interact });
    await hub.login("issues", browser());
    await hub.tools();
    await (await scene.hub()).login("issues", { scopes: ["+write"], ...browser() });
    expect(await Promise.all([add(hub), add(hub)])).toEqual([{ sum: 3 }, { sum: 3 }]);
    expect(asked).toEqual([]);
  });

  it("is tried once", async () => {
    const scene = await openScene({}, writes);
    const hub = await scene.hub();
    await hub.login("issues", browser());
    await hub.tools();
    await (await scene.hub()).login("issues", browser());
    const tried = async () => {
      const before = requestsOf(scene.server, "tools/call").length;
      expect(await refusal(add(hub))).toMatchObject({ data: { reason: "insufficient-scope" } });
      return requestsOf(scene.server, "tools/call").length - before;
    };
    const withNew = await tried();
    expect(withNew).toBe(2 * (await tried()));
  });
});

describe("credentials that the program does not supply", () => {
  it("are missing even if their name is a property of every object", async () => {
    const hub = await (await openScene()).hub({ auth: "constructor" });
    expect(await refusal(hub.connect("issues"))).toMatchObject({ code: "config-invalid" });
  });
});
