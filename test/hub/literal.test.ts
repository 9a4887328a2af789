import { describe, expect, it } from "vitest";
import { createHub } from "../../src/index.ts";
import type { FileLiteral } from "../../src/config.ts";
import type { ConfigLiteral, PlugboardError } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";

/** As a program without types would write it. */
function untyped(value: unknown): ConfigLiteral | FileLiteral {
  return value as FileLiteral;
}

describe("M04 a configuration written in code", () => {
  it("may say `mcpServers` like a file, with the names that other clients use", async () => {
    const off = { ...fakeStdio(), disabled: true };
    await using hub = await createHub(untyped({ $schema: "x", mcpServers: { files: fakeStdio(), off } }));
    expect((await hub.tools()).some(({ server }) => server === "files")).toBe(true);
    expect(hub.status()).toMatchObject([{ name: "files", state: "connected" }, { disabledReason: "off" }]);
  });

  it.each([
    [
      { mcpServers: { files: { comand: "node" } } },
      "mcpServers.files.comand: unknown field `comand`; did you mean `command`?",
    ],
    [
      { servers: { files: { comand: "node" } } },
      "servers.files.comand: unknown field `comand`; did you mean `command`?",
    ],
    [
      { mcpServer: { files: { command: "node" } } },
      "mcpServer: unknown field `mcpServer`; did you mean `mcpServers`?",
    ],
    [{ mcpServers: [] }, "mcpServers: expected an object"],
    [{ mcpServers: { files: "node server.js" } }, "mcpServers.files: "],
    [
      { mcpServers: {}, bundles: { work: { servers: ["files"] } } },
      'bundles.work.servers[0]: there is no server "files"',
    ],
    [{ mcpServers: {}, approval: "sometimes" }, "approval: "],
    [
      { mcpServers: { a: { command: "x", untrusted: true } } },
      "mcpServers.a: an untrusted server needs an allow list",
    ],
  ])("throws the mistake in %j, and names where it stands", async (literal, message) => {
    const error = await createHub(untyped(literal)).catch((thrown: unknown) => thrown as PlugboardError);
    expect(error).toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining(message) as string,
    });
  });

  it("names all mistakes at once", async () => {
    const creating = createHub(untyped({ mcpServers: { a: { comand: "x" }, b: { command: "x", arg: [] } } }));
    await expect(creating).rejects.toThrow(/mcpServers\.a\.comand: .*mcpServers\.b\.arg: /);
  });

  it("keeps the old configuration if a new one has a mistake", async () => {
    await using hub = await createHub({ mcpServers: { files: fakeStdio() } });
    await expect(hub.reload(untyped({ mcpServers: { files: { comand: "x" } } }))).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining("mcpServers.files.comand") as string,
    });
    await expect(hub.add("other", untyped({ comand: "x" }) as object)).rejects.toThrow(
      "mcpServers.other.comand",
    );
    expect(hub.status().map(({ name }) => name)).toEqual(["files"]);
    await hub.reload({ mcpServers: { later: fakeStdio() } });
    expect(hub.status().map(({ name }) => name)).toEqual(["later"]);
  });
});
