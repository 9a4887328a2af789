import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { startFakeHttp } from "../fixtures/fake/index.ts";
import type { Rule, Script } from "../fixtures/fake/index.ts";
import { openScene } from "./bridge/scene.ts";
import type { ClientKind, SceneOptions } from "./bridge/scene.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const big = "9007199254740993";
/** JavaScript would change it, so it is written as it stands here. */
const exactly = (JSON as unknown as { rawJSON(text: string): number }).rawJSON(big);
const inputSchema = { type: "object" };
const annotations = { readOnlyHint: true };
const named = (name: string) => ({ name, inputSchema, annotations });
const rule = (tool: string, ...steps: Rule["do"]): Rule => ({ when: { tool }, do: steps });

const deepest = 1_000;
const deep = () => {
  let value: unknown = [];
  for (let level = 0; level < deepest; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
};

const link = { type: "resource_link", uri: "fake://shared", name: "shared" };
const contents = [{ uri: "fake://shared", text: "x", _meta: { big: exactly } }];

const script: Partial<Script> = {
  tools: [
    { name: "schema", annotations, inputSchema: { type: "object", properties: { n: { maximum: exactly } } } },
    ...["linked", "deep", "linkedDeep", "failing", "logging", "asking"].map(named),
  ],
  resources: [{ uri: "fake://shared", name: "shared", size: exactly }],
  on: [
    rule("linked", { answer: { content: [link], structuredContent: { big: exactly } } }),
    rule("deep", { answer: { content: [], structuredContent: { deep: deep() } } }),
    rule("linkedDeep", { answer: { content: [link], structuredContent: { deep: deep(), big: exactly } } }),
    rule("failing", { error: { code: -32_050, message: "no", data: { big: exactly } } }),
    rule(
      "logging",
      { notify: { method: "notifications/message", params: { level: "error", data: { big: exactly } } } },
      { progress: 1 },
      { answer: { content: [] } },
    ),
    { when: { method: "resources/read" }, do: [{ answer: { contents } }] },
    {
      when: { method: "prompts/get" },
      do: [{ answer: { messages: [{ role: "user", content: link }], _meta: { big: exactly } } }],
    },
  ],
};

const kinds = ["legacy-http", "modern-http"] as const;
const clientKinds: readonly ClientKind[] = ["legacy-http", "modern-http", "legacy-stdio", "modern-stdio"];
const scene = (options: SceneOptions = {}) => openScene(kinds, { script, ...options });

describe.each(clientKinds)("M44 what servers send reaches a %s client as it came", (clientKind) => {
  it.each(kinds)("numbers of %s in results, errors, lists and notifications", async (server) => {
    const served = await scene();
    try {
      const client = await served.client(clientKind);
      await client.setLogLevel("debug");
      const text = async (tool: string) => (await client.call(`${server}__${tool}`).answer).text;
      const linked = await text("linked");
      expect(linked).toContain(`"structuredContent":{"big":${big}}`);
      // The link was marked, because both servers have it.
      expect(linked).toContain(`fake://shared#plugboard=${server}`);
      expect(await text("failing")).toContain(`"data":{"big":${big}}`);
      const listed = (await client.request("tools/list").answer).text;
      expect(listed.match(new RegExp(`"maximum":${big}`, "g"))).toHaveLength(2);
      expect((await client.request("resources/list").answer).text).toContain(`"size":${big}`);
      const read = await client.request("resources/read", { uri: `fake://shared#plugboard=${server}` })
        .answer;
      expect(read.text).toContain(`"big":${big}}`);
      const prompt = await client.request("prompts/get", { name: `${server}__greet` }).answer;
      expect(prompt.text).toContain(`"big":${big}}`);
      expect(prompt.text).toContain(`fake://shared#plugboard=${server}`);
      const progressToken = exactly;
      await client.call(`${server}__logging`, {}, { progressToken }).answer;
      const said = client.seen.filter(({ kind }) => kind === "notification").map((one) => one.text);
      expect(said.find((one) => one.includes("notifications/message"))).toContain(`"data":{"big":${big}}`);
      expect(said.find((one) => one.includes("notifications/progress"))).toContain(`"progressToken":${big}`);
    } finally {
      await served.close();
    }
  });

  it.each(kinds)("results of %s that are nested 1,000 levels deep", async (server) => {
    const served = await scene();
    try {
      const client = await served.client(clientKind);
      const nested = JSON.stringify(deep());
      expect((await client.call(`${server}__deep`).answer).text).toContain(`"deep":${nested}`);
      const { text } = await client.call(`${server}__linkedDeep`).answer;
      expect(text).toContain(`"deep":${nested},"big":${big}`);
      expect(text).toContain(`fake://shared#plugboard=${server}`);
    } finally {
      await served.close();
    }
  });

  it.each(kinds)("numbers in questions of %s, and what the client answers", async (server) => {
    const requestedSchema = { type: "object", properties: { n: { type: "integer", maximum: exactly } } };
    const asking = { method: "elicitation/create", params: { message: "Which?", requestedSchema } };
    const required = { resultType: "input_required", inputRequests: { q: asking }, requestState: "s" };
    const answer = { content: [] };
    const on: Rule[] =
      server === "legacy-http"
        ? [rule("asking", { request: asking }, { answer })]
        : [{ when: { tool: "asking", nth: 1 }, do: [{ answer: required }] }, rule("asking", { answer })];
    const served = await openScene([server], { script: { ...script, on } });
    try {
      const content = { n: exactly };
      const client = await served.client(clientKind, { answer: () => ({ action: "accept", content }) });
      await client.result(client.call(`${server}__asking`));
      const question = client.seen.find(({ text }) => text.includes("requestedSchema"));
      expect(question?.text).toContain(`"maximum":${big}`);
      const heard = served.upstream(server).heard();
      expect(heard.filter(({ text }) => text.includes(`"content":{"n":${big}}`))).toHaveLength(1);
    } finally {
      await served.close();
    }
  });

  it("numbers and depth through the three tools of a deferred catalog", async () => {
    const served = await scene({ settings: { toolSearch: true } });
    try {
      const client = await served.client(clientKind);
      const inner = async (name: string) =>
        (await client.call("call_tool", { name: `legacy-http__${name}`, arguments: {} }).answer).text;
      expect(await inner("linked")).toContain(`"structuredContent":{"big":${big}}`);
      expect(await inner("linkedDeep")).toContain(`"big":${big}`);
      const described = await client.call("describe_tools", { names: ["legacy-http__schema"] }).answer;
      expect(described.text).toContain(`maximum\\":${big}`);
    } finally {
      await served.close();
    }
  });
});

describe("M44 numbers that JavaScript changes", () => {
  it.each(["legacy-http", "modern-http"] as const)(
    "are kept in results of tasks, for a %s client",
    async (kind) => {
      const release = { waitFor: { tool: "release" } };
      const answer = { content: [], structuredContent: { big: exactly, deep: deep() } };
      const tools = [named("slow"), named("release")];
      const served = await openScene(["legacy-http"], {
        script: { tools, on: [rule("slow", release, { answer })] },
      });
      try {
        const extensions = { "io.modelcontextprotocol/tasks": {} };
        const client = await served.client(kind, { revision: "2025-11-25", capabilities: { extensions } });
        const params = { name: "legacy-http__slow", arguments: {}, task: {} };
        const made = await client.result(client.request("tools/call", params));
        const taskId = String((made["task"] as Fields | undefined)?.["taskId"] ?? made["taskId"]);
        await client.call("legacy-http__release").answer;
        const method = kind === "legacy-http" ? "tasks/result" : "tasks/get";
        const result = async () => (await client.request(method, { taskId }).answer).text;
        let text = await result();
        while (text.includes('"status":"working"')) text = await result();
        expect(text).toContain(`"structuredContent":{"big":${big},"deep":${JSON.stringify(deep())}`);
        if (kind === "legacy-http")
          expect(text).toContain('"io.modelcontextprotocol/related-task":{"taskId"');
      } finally {
        await served.close();
      }
    },
  );

  it("are kept in a list that is remembered across restarts", async () => {
    const store = createMemoryStore();
    const fake = await startFakeHttp({
      tools: [{ name: "t", inputSchema: { type: "object", maximum: exactly } }],
    });
    onTestFinished(() => fake.close());
    for (const isWarm of [true, false]) {
      await using served = await openPipe({ one: { url: fake.url } }, { isWarm, hub: { store } });
      const client = await served.connect("modern");
      expect((await client.request("tools/list").answer).text).toContain(`"maximum":${big}`);
    }
  });

  it("are kept in the ids of a server's own questions", async () => {
    const ids = ["9007199254740992", big];
    const raw = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`).join("");
    const on = [rule("asking", { raw }, { answer: { content: [] } })];
    const served = await openScene(["legacy-stdio"], { script: { tools: [named("asking")], on } });
    try {
      const client = await served.client("legacy-http");
      await client.result(client.call("legacy-stdio__asking"));
      const heard = () => served.upstream("legacy-stdio").heard();
      const answers = () => heard().flatMap(({ text }) => /"id":(\d{16})\b/.exec(text)?.[1] ?? []);
      await vi.waitFor(() => expect(answers().toSorted()).toEqual(ids), { timeout: 10_000 });
    } finally {
      await served.close();
    }
  });
});
