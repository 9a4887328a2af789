import { describe, expect, it } from "vitest";
import { openTelemetry } from "../../src/telemetry/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { openScene } from "../gateway/bridge/scene.ts";
import { openRecorder } from "./recorder.ts";

const key = "sk-a-key-that-nobody-may-see";
const uri = `fake://files/${key}/readme`;
const shownUri = "fake://files/(hidden)/readme";

/** A server that puts the key it was given into whatever has a name. */
async function openWatched(script: Partial<Script> = {}) {
  const recorder = openRecorder();
  const telemetry = await openTelemetry({ arguments: true, results: true });
  const scene = await openScene(["legacy-stdio", "modern-http"], {
    hub: { telemetry },
    gateway: { telemetry },
    entry: { env: { API_KEY: key }, headers: { "x-api-key": key } },
    script: {
      resources: [{ uri, name: "readme" }],
      prompts: [{ name: `greet-${key}` }],
      ...script,
      tools: [{ name: `echo-${key}`, inputSchema: { type: "object" } }],
    },
  });
  return {
    scene,
    ...recorder,
    async everything() {
      const spans = recorder.spans().map(({ name, attributes, status, events }) => ({
        name,
        attributes,
        status,
        events,
      }));
      return JSON.stringify([spans, await recorder.histograms()]);
    },
    async [Symbol.asyncDispose]() {
      await scene.close();
      await recorder[Symbol.asyncDispose]();
    },
  };
}

describe("M65 a credential of a server that is part of its names", () => {
  it.each(["legacy-stdio", "modern-http"] as const)(
    "is not in the URI of a resource of %s",
    async (server) => {
      await using watched = await openWatched();
      const client = await watched.scene.client("legacy-http");
      const marked = `${uri}#plugboard=${server}`;
      await client.result(client.request("resources/read", { uri: marked }));
      for (const kind of ["CLIENT", "SERVER"] as const)
        expect(watched.span(kind, "resources/read").attributes["mcp.resource.uri"]).toBe(shownUri);
      expect(await watched.everything()).not.toContain(key);
    },
  );

  it("is not in what a failed read or subscription says", async () => {
    await using watched = await openWatched();
    const client = await watched.scene.client("modern-http");
    const nowhere = `fake://${key}/${"x".repeat(300)}`;
    expect(await client.request("resources/read", { uri }).answer).toHaveProperty("error");
    expect(await client.request("resources/read", { uri: nowhere }).answer).toHaveProperty("error");
    await watched.scene.hub.readResource("legacy-stdio", nowhere).catch(() => undefined);
    await watched.scene.hub
      .subscribeResource("modern-http", nowhere, () => undefined)
      .then((stop) => stop())
      .catch(() => undefined);
    const unsent = watched.spans().filter(({ attributes }) => attributes["mcp.resource.uri"] === undefined);
    expect(
      unsent.some(({ status }) => status.message?.includes("No server offers the resource (hidden)")),
    ).toBe(true);
    expect(await watched.everything()).not.toContain(key);
  });

  it("is not in the names of tools and prompts, nor in metrics", async () => {
    await using watched = await openWatched();
    const client = await watched.scene.client("modern-http");
    await client.result(client.call(`modern-http__echo-${key}`));
    expect(watched.span("SERVER", "tools/call").attributes["gen_ai.tool.name"]).toBe("(hidden)");
    watched.reset();
    await watched.scene.hub.callTool(`legacy-stdio.echo-${key}`).catch(() => undefined);
    await watched.scene.hub.getPrompt(`modern-http.greet-${key}`).catch(() => undefined);
    watched.span("CLIENT", "tools/call echo-(hidden)");
    watched.span("CLIENT", "prompts/get greet-(hidden)");
    expect(await watched.everything()).not.toContain(key);
  });

  it("is not in the error of a failed read, prompt or subscription", async () => {
    const refusing = ["resources/subscribe", "prompts/get"].map((method) => ({
      when: { method },
      do: [{ error: { code: -32_603, message: key } }],
    }));
    await using watched = await openWatched({ on: refusing });
    const { hub } = watched.scene;
    const nothing = `fake://${key}/nothing`;
    const shown = { message: expect.stringContaining("fake://(hidden)/nothing") };
    await expect(hub.readResource("legacy-stdio", nothing)).rejects.toMatchObject(shown);
    const subscribed = hub.subscribeResource("legacy-stdio", nothing, () => undefined);
    await expect(subscribed).rejects.toMatchObject(shown);
    const prompt = hub.getPrompt(`legacy-stdio.greet-${key}`);
    await expect(prompt).rejects.toMatchObject({ message: expect.not.stringContaining(key) });
  });
});
