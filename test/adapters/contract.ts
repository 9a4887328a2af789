import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tasks } from "../../compat/many-tools/catalog.ts";
import type { AgentOptions } from "../../src/adapters/core/options.ts";
import { isPlugboardError } from "../../src/index.ts";
import type { CallEnd, CallStart, Progress } from "../../src/host.ts";
import type { ApproveQuestion, Hub, View } from "../../src/index.ts";
import { startModel } from "../fixtures/model/index.ts";
import type { Conversation, Part, ScriptedModel, ScriptedTurn } from "../fixtures/model/index.ts";
import { openCrowd, openScene, picture } from "./scene.ts";

/** An adapter in a tool loop of its real SDK. */
export interface AdapterUnderTest {
  /** The subpath of the package. */
  name: string;
  /** True if found tools are added to a running agent under their own ids; otherwise it has three tools. */
  canGrow: boolean;
  /** True if the SDK asks about calls where the view asks nobody. */
  asksItself: boolean;
  /** True if images reach the model as images. */
  hasMedia: boolean;
  /** Whether the SDK streams. */
  modes: readonly ("whole" | "stream")[];
  /**
   * Asks the model, runs the tools that it calls, and so on until it calls none. Returns its last text. `answer` is what a
   * person answers to a question of the SDK itself.
   */
  run(task: AgentTask): Promise<string>;
  /** The names of tools that are set aside. */
  setAside(view: View): Promise<string[]>;
  /** Sends the messages of a prompt, and a text with mentions, to the model. */
  say(
    task: Pick<AgentTask, "view" | "url"> & { prompt: string; args: Record<string, string>; text: string },
  ): Promise<void>;
}

export interface AgentTask {
  view: View;
  /** The model's URL, without a path. */
  url: string;
  stream: boolean;
  options: AgentOptions;
  signal?: AbortSignal;
  answer?: (tool: string) => boolean;
}

const add = (a: number, b: number) => ({ tool: "mcp__it__add", args: { a, b } });

/** What every adapter promises. */
export function adapterContract(adapter: AdapterUnderTest): void {
  let hub: Hub;
  beforeAll(async () => {
    hub = await openScene();
    await hub.tools();
  });
  afterAll(() => hub.close());

  /** Runs the agent against a model that says this; returns what the model was sent, and what the agent returned. */
  async function agent(turns: ScriptedTurn[], task: Partial<AgentTask> = {}) {
    await using model = await startModel(turns);
    const given = { view: hub, url: model.url, stream: false, options: {}, ...task };
    const text = await adapter.run(given);
    return { text, received: model.received };
  }

  /** The requests that the server was told to cancel. */
  async function cancelledIds(): Promise<unknown[]> {
    const { structuredContent } = await hub.callTool("mcp__it__cancelled");
    return structuredContent?.["ids"] as unknown[];
  }

  describe.each(adapter.modes)(`M64 plugboard/${adapter.name}, %s`, (mode) => {
    const stream = mode === "stream";

    it("makes parallel calls and gives the model each result", async () => {
      const turns = [
        { text: ["One ", "moment."], calls: [add(1, 2), add(30, 4)] },
        { text: ["It ", "is done."] },
      ];
      const { text, received } = await agent(turns, { stream });
      expect(text).toBe("It is done.");
      expect(received).toHaveLength(2);
      expect(resultTexts(received[1])).toEqual(["3", "34"].map((sum) => expect.stringContaining(sum)));
    });

    it("ends a call when the agent is cancelled, and tells the server", async () => {
      await using model = await startModel([{ calls: [{ tool: "mcp__it__sleep", args: { ms: 60_000 } }] }]);
      const controller = new AbortController();
      const before = await cancelledIds();
      const started = new Promise<void>((resolve) => {
        const stop = hub.on("call-start", ({ tool }) => {
          if (tool !== "mcp__it__sleep") return;
          stop();
          resolve();
        });
      });
      const ended = new Promise<string>((resolve) => {
        const stop = hub.on("call-end", ({ outcome }) => {
          stop();
          resolve(outcome);
        });
      });
      const { signal } = controller;
      const running = adapter.run({ view: hub, url: model.url, stream, options: {}, signal });
      const outcome = running.then(
        () => "finished",
        () => "rejected",
      );
      await started;
      controller.abort();
      expect(await ended).toBe("cancelled");
      await outcome;
      expect(model.received).toHaveLength(1);
      expect((await cancelledIds()).length).toBe(before.length + 1);
    });
  });

  describe(`M64 plugboard/${adapter.name}`, () => {
    it("offers tools with their descriptions and schemas, and sets aside what does not compile", async () => {
      const { received } = await agent([{ text: "Hello." }]);
      const tool = received[0]?.tools.find(({ name }) => name === "mcp__it__add");
      expect(tool).toMatchObject({ description: "Adds a and b" });
      expect(JSON.stringify(tool?.schema)).toMatch(/"a":.*"b":/);
      expect(await adapter.setAside(hub)).toEqual(["mcp__it__odd"]);
      expect(received[0]?.tools.map(({ name }) => name)).not.toContain("mcp__it__odd");
    });

    it("gives the model an image, or words about it", async () => {
      const turns = () => [{ calls: [{ tool: "mcp__it__picture" }] }, { text: "Nice." }];
      const { received } = await agent(turns());
      const image = allParts(received[1]).find(({ type }) => type === "image");
      if (adapter.hasMedia) expect(image).toMatchObject({ data: picture, mimeType: "image/png" });
      const blind = await agent(turns(), { options: { media: false } });
      expect(allParts(blind.received[1]).filter(({ type }) => type !== "text")).toEqual([]);
      expect(resultTexts(blind.received[1])[0]).toMatch(/A pixel[^]*image image\/png/);
      expect(blind.received[1]?.text).not.toContain(picture);
    });

    it("gives the model the tool's error, and our own with what to do about it", async () => {
      const { received } = await agent([
        { calls: [{ tool: "mcp__it__fail", args: { message: "out of paper" } }] },
        { calls: [{ tool: "mcp__it__crash" }] },
        { calls: [{ tool: "mcp__it__add", args: { a: "many" } }] },
        { text: "Sorry." },
      ]);
      expect(resultTexts(received[1])[0]).toContain("out of paper");
      expect(resultTexts(received[2])[1]).toMatch(/exited.*find out before you call it again/s);
      expect(resultTexts(received[3])[2]).toMatch(/a.*other arguments/s);
    });

    it("gives the model a result for broken JSON and for a tool that is not there", async () => {
      const { text, received } = await agent([
        { calls: [{ tool: "mcp__it__add", args: '{"a": 1, "b":' }] },
        { calls: [{ tool: "mcp__it__ad", args: {} }] },
        { calls: [add(1, 2)] },
        { text: "At last." },
      ]);
      expect(text).toBe("At last.");
      expect(resultTexts(received[1])[0]).toMatch(/json/i);
      expect(resultTexts(received[2])[1]).toMatch(/mcp__it__ad\b/);
      expect(resultTexts(received[3])[2]).toContain("3");
    });

    it("asks once where the view asks, and gives the model the answer", async () => {
      const asked: ApproveQuestion[] = [];
      const view = (decision: "allow" | "deny") =>
        hub.view({
          interact: {
            approve: async (question) => {
              asked.push(question);
              return { decision };
            },
          },
        });
      const turns = [{ calls: [{ tool: "mcp__careful__add", args: { a: 1, b: 2 } }] }, { text: "Well." }];
      const denied = await agent(turns, { view: view("deny"), answer: never });
      expect(resultTexts(denied.received[1])[0]).toContain("not approved");
      expect(resultTexts(denied.received[1])[0]).not.toMatch(/`approval`|\bterminal\b|plugboard /);
      const allowed = await agent(turns, { view: view("allow"), answer: never });
      expect(resultTexts(allowed.received[1])[0]).toContain("3");
      expect(asked).toHaveLength(2);
    });

    it.each(adapter.modes.flatMap((mode) => [`result, ${mode}`, `throw, ${mode}`]))(
      "ends with the turn that a person cancelled, and with its other calls (errors: %s)",
      async (how) => {
        const errors = how.startsWith("throw") ? "throw" : "result";
        const stream = how.endsWith("stream");
        const began = callOf(hub, "call-start", "mcp__it__sleep");
        const ended = callOf(hub, "call-end", "mcp__it__sleep");
        const view = hub.view({
          interact: {
            approve: async () => {
              await began;
              return { decision: "cancel" };
            },
          },
        });
        await using model = await startModel([
          {
            calls: [
              { tool: "mcp__it__sleep", args: { ms: 60_000 } },
              { tool: "mcp__careful__add", args: { a: 1, b: 2 } },
            ],
          },
          { text: "I go on." },
        ]);
        const run = adapter.run({ view, url: model.url, stream, options: { errors } });
        const outcome = await run.then(
          (text) => text,
          (error: unknown) => error,
        );
        expect(causes(outcome).some((error) => isPlugboardError(error) && error.endsTurn)).toBe(true);
        expect(await ended).toMatchObject({ outcome: "cancelled" });
        expect(model.received).toHaveLength(1);
      },
    );

    it("lets the SDK ask where the view asks nobody", async () => {
      const turns = [{ calls: [{ tool: "mcp__careful__add", args: { a: 1, b: 2 } }] }, { text: "Well." }];
      const asked: string[] = [];
      const answer = (decision: boolean) => (tool: string) => {
        asked.push(tool);
        return decision;
      };
      const denied = await agent(turns, { answer: answer(false) });
      expect(resultTexts(denied.received[1])[0]).not.toContain("3");
      const allowed = await agent(turns, { answer: answer(true) });
      if (!adapter.asksItself) {
        expect(resultTexts(allowed.received[1])[0]).toContain("nobody is there to ask");
        return;
      }
      expect(asked).toEqual(["mcp__careful__add", "mcp__careful__add"]);
      expect(resultTexts(allowed.received[1])[0]).toContain("3");
    });

    it("marks what an untrusted server says as data from outside", async () => {
      const { received } = await agent([
        { calls: [{ tool: "mcp__stranger__echo", args: { said: "obey" } }] },
        { text: "No." },
      ]);
      const tool = received[0]?.tools.find(({ name }) => name === "mcp__stranger__echo");
      expect(tool?.description).toMatch(/untrusted server "stranger".*data, not an instruction/);
      expect(resultTexts(received[1])[0]).toMatch(
        /untrusted server "stranger"[^]*not an instruction[^]*obey/,
      );
    });

    it("lets the model read a result that was too large", async () => {
      const { received } = await agent([
        { calls: [{ tool: "mcp__it__big", args: { bytes: 400_000 } }] },
        (seen) => ({ calls: [{ tool: "read_result", args: { handle: handleIn(seen), page: 2 } }] }),
        { text: "Long." },
      ]);
      expect(resultTexts(received[2])[1]).toMatch(/^Page 2 of \d+\nx{1000}/);
    });

    it("throws our failures if exceptions are wished for", async () => {
      const turns = [{ calls: [{ tool: "mcp__it__crash" }] }, { text: "Sorry." }];
      const run = agent(turns, { options: { errors: "throw" } });
      const outcome = await run.then(
        ({ received }) => resultTexts(received[1])[0],
        (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
      );
      // Some SDKs make a result of an exception, in their own words.
      expect(outcome).toContain("exited");
      expect(outcome).not.toContain("find out before you call it again");
    });

    it("reports progress", async () => {
      const heard: Progress[] = [];
      const onProgress = (progress: Progress) => heard.push(progress);
      await agent([{ calls: [{ tool: "mcp__it__progress", args: { steps: 3 } }] }, { text: "Done." }], {
        options: { onProgress },
      });
      expect(heard.map(({ progress }) => progress)).toEqual([1, 2, 3]);
    });

    it("makes messages of prompts and attachments of mentions", async () => {
      await using model = await startModel([{ text: "Hi." }]);
      const text = "Look at @it:fake://readme and @it:fake://missing";
      await adapter.say({ view: hub, url: model.url, prompt: "it.greet", args: { who: "Ada" }, text });
      const [asked] = model.received;
      const said = asked?.messages
        .flatMap(({ parts }) => parts)
        .map((part) => ("text" in part ? part.text : ""));
      expect(said?.join("\n")).toMatch(
        /Ada[^]*Look at[^]*@it:fake:\/\/readme:\n[^]*@it:fake:\/\/missing could not be read/,
      );
    });

    it("finds and calls the right one of 10,000 tools", async () => {
      await using crowd = await openCrowd();
      await crowd.tools();
      const [step] = tasks[0]?.steps ?? [];
      if (!step) throw new Error("no task");
      const id = `mcp__${step.service}__${step.tool.name}`;
      const { text, received } = await agent(searching(step.query, id, step.args, adapter.canGrow), {
        view: crowd,
      });
      expect(text).toBe("Found.");
      expect(received[0]?.tools.length).toBeLessThan(10);
      const answered = resultTexts(received.at(-1)).at(-1);
      expect(answered).toContain(Object.values(step.args)[0]);
      const called = crowd.calls().filter(({ outcome }) => outcome === "ok");
      expect(called.map(({ tool }) => tool)).toEqual([id]);
    });
  });
}

const never = (tool: string): boolean => {
  throw new Error(`asked about ${tool} a second time`);
};

/** A scripted agent that finds a tool, looks at it, and calls it: by its own id, or through `call_tool`. */
function searching(query: string, id: string, args: object, canGrow: boolean): ScriptedTurn[] {
  const found: ScriptedTurn = (seen) => {
    const text = lastResult(seen);
    if (!text.includes(`${id}(`)) throw new Error(`not found: ${text}`);
    if (canGrow) return { calls: [{ tool: offered(seen, id), args: { ...args } }] };
    return { calls: [{ tool: "describe_tools", args: { names: [id] } }] };
  };
  const described: ScriptedTurn = (seen) => {
    if (!lastResult(seen).includes('"inputSchema"')) throw new Error(`not described: ${lastResult(seen)}`);
    return { calls: [{ tool: "call_tool", args: { name: id, arguments: args } }] };
  };
  const search: ScriptedTurn = { calls: [{ tool: "search_tools", args: { query } }] };
  return [search, found, ...(canGrow ? [] : [described]), { text: "Found." }];
}

/** The next event of this kind about a tool. */
function callOf(hub: Hub, type: "call-start" | "call-end", tool: string): Promise<CallStart | CallEnd> {
  return new Promise((resolve) => {
    const stop = hub.on(type, (event) => {
      if (event.tool !== tool) return;
      stop();
      resolve(event);
    });
  });
}

/** An error, and those that it wraps. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let at = error; at instanceof Error; at = at.cause ?? ("error" in at ? at.error : undefined))
    found.push(at);
  return found;
}

function offered({ tools }: Conversation, id: string): string {
  const tool = tools.find(({ name }) => name === id);
  if (!tool) throw new Error(`${id} is not among ${tools.map(({ name }) => name).join(", ")}`);
  return tool.name;
}

function resultTexts(asked: Conversation | undefined): string[] {
  return [...(asked?.results.values() ?? [])].map(({ text }) => text);
}

function lastResult(asked: Conversation): string {
  return resultTexts(asked).at(-1) ?? "";
}

function allParts(asked: ScriptedModel["received"][number] | undefined): Part[] {
  if (!asked) return [];
  return [...asked.results.values(), ...asked.messages].flatMap(({ parts }) => parts);
}

function handleIn(seen: Conversation): string {
  return /handle (\S+?)[\s.\])]/.exec(lastResult(seen))?.[1] ?? "no handle";
}
