import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/host.ts";
import type { Script } from "../fixtures/fake/script.ts";
import { runShell } from "../run-command.ts";
import { chatScene, modelKey } from "./chat-scene.ts";
import type { Provider } from "./chat-scene.ts";
import { commandLine } from "../command-line.ts";

const node = process.execPath;
const providers: Provider[] = ["openai", "anthropic"];
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const readOnly = { annotations: { readOnlyHint: true }, inputSchema: { type: "object" } };
const drawing: Script = {
  moreTools: [
    { name: "draw", ...readOnly },
    { name: "steps", ...readOnly },
  ],
  on: [
    {
      when: { tool: "draw" },
      do: [{ answer: { content: [{ type: "image", data: png, mimeType: "image/png" }] } }],
    },
    {
      when: { tool: "steps" },
      do: [{ progress: 2 }, { answer: { content: [{ type: "text", text: "there" }] } }],
    },
  ],
};

describe.each(providers)("M66 a conversation in a pipe with %s", (provider) => {
  it("streams words, calls tools in parallel, and goes on with their results", async () => {
    const { chat, model } = await chatScene(
      [
        {
          text: ["I will ", "add."],
          calls: [
            { tool: "add", args: { a: 1, b: 2 } },
            { tool: "add", args: { a: 3, b: 4 } },
          ],
        },
        ({ results }) => ({
          text: ["The sums are ", [...results.values()].map(({ text }) => text).join(" and "), "."],
        }),
      ],
      { provider },
    );
    const { code, out, err } = await chat(["--print"], { input: "Add 1 and 2, and 3 and 4.\n" });
    expect({ code, out }).toEqual({
      code: 0,
      out: 'I will add.\nThe sums are {"sum":3} and {"sum":7}.\n',
    });
    expect(err).toContain(" 1 → it.add  a=1 b=2\n");
    expect(err).toContain(' 2 ✓ {"sum":7}\n');
    const [first] = model.received;
    expect(first?.messages.at(-1)?.parts).toEqual([{ type: "text", text: "Add 1 and 2, and 3 and 4." }]);
    expect(first?.headers).toMatchObject(
      provider === "openai" ? { authorization: `Bearer ${modelKey}` } : { "x-api-key": modelKey },
    );
    expect(first?.tools.map(({ name }) => name)).toContain("mcp__it__add");
  });

  it("prints events as JSON lines, with progress and the paths of saved images", async () => {
    const { box, events, model } = await chatScene(
      [{ calls: [{ tool: "draw" }, { tool: "steps" }] }, { text: ["A ", "dot."] }],
      { provider, script: drawing },
    );
    const run = await events(["Draw", "a", "dot.", "--output", "pictures"]);
    const types = run.events.map(({ type }) => type);
    expect(types.filter((type) => type === "tool-progress")).toHaveLength(2);
    expect(run.events).toContainEqual(
      expect.objectContaining({ type: "tool-result", tool: "mcp__it__steps", isError: false, text: "there" }),
    );
    expect(run.events).toContainEqual(
      expect.objectContaining({
        type: "tool-result",
        files: ["pictures/image-1.png"],
      }),
    );
    expect(statSync(box.path("project/pictures/image-1.png")).size).toBe(Buffer.from(png, "base64").length);
    expect(run.events.at(0)).toMatchObject({ type: "start", model: "scripted", provider });
    expect(run.events.at(-1)).toMatchObject({ type: "end", outcome: "done", steps: 2 });
    expect(run.code).toBe(0);
    // Chat Completions has no images in results; base64 as text would only fill the context.
    const [drawn] = (await model.request(1)).results.values();
    if (provider === "anthropic")
      expect(drawn?.parts).toContainEqual(expect.objectContaining({ type: "image" }));
    else expect(drawn?.text).toBe("[image image/png: saved for the user, and not visible to you]");
  });

  it("tells the model what it did wrong, so that it can do better", async () => {
    const { events, model } = await chatScene(
      [
        { calls: [{ tool: "nonsense", args: {} }] },
        { calls: [{ tool: "add", args: '{"a": 1, ' }] },
        { calls: [{ tool: "add", args: { a: "many", b: 2 } }] },
        { text: "I give up." },
      ],
      { provider },
    );
    const run = await events(["Go."]);
    expect(run).toMatchObject({ code: 0 });
    const results = [...(await model.request(3)).results.values()].map(({ text }) => text);
    expect(results[0]).toContain("nonsense");
    expect(results[1]).toMatch(/JSON/);
    expect(results[2]).toContain("Nothing was done; call it again with other arguments.");
  });

  it.each([
    [{ status: 401, message: `bad key ${modelKey}` }, 6, "model-refused", "refused the key (401)"],
    [
      { status: 404, message: "no such model" },
      6,
      "model-refused",
      "refused the request (404): no such model",
    ],
    [{ status: 429, retryAfterSeconds: 7 }, 8, "rate-limited", "limits requests (429)"],
    [{ status: 500 }, 5, "model-failed", "failed (500)"],
    [{ text: ["half of ", "a sentence"], end: "drop" as const }, 5, "model-failed", "broke off"],
    [
      { calls: [{ tool: "add", args: { a: 1, b: 2 } }], end: "drop" as const },
      5,
      "model-failed",
      "broke off",
    ],
    [{ text: "hm", end: "hang" as const }, 5, "model-failed", "has been silent for 1 s"],
  ])(
    "says what is wrong with the endpoint, and keeps the conversation: %j",
    async (turn, code, error, words) => {
      const { events, chat, model } = await chatScene([turn, { text: "Here I am." }], {
        provider,
        config: { chat: { timeoutMs: 1000 } },
      });
      const run = await events(["Hello."]);
      const end = run.events.at(-1);
      expect(run.code).toBe(code);
      expect(end).toMatchObject({ type: "end", outcome: "failed", error: { code: error } });
      expect(JSON.stringify(end)).toContain(words);
      expect(JSON.stringify(end)).not.toContain(modelKey);
      if (error === "rate-limited") expect(JSON.stringify(end)).toContain("Say it again in 7 s.");
      expect(await chat(["--continue", "Still there?"])).toMatchObject({ code: 0, out: "Here I am.\n" });
      const said = (await model.request(1)).messages.flatMap(({ parts }) => parts);
      expect(said).toContainEqual({ type: "text", text: "Hello." });
    },
  );
});

describe("M66 chat in a pipe", () => {
  it("says in one line what to set if there is no model", async () => {
    const { box } = await chatScene([]);
    box.write("home/.config/plugboard/config.json", {});
    const { code, err } = await box.cli(["chat", "Hello"]);
    expect(code).toBe(3);
    expect(err.split("\n")[0]).toBe(
      "error: No model is set. Use --model, PLUGBOARD_CHAT_MODEL or `chat.model` in your configuration.",
    );
    box.write("project/.mcp.json", { mcpServers: {}, chat: { model: "theirs" } });
    expect((await box.cli(["chat", "Hello"])).err).toContain(
      "ignored, because a project cannot choose where your conversations and your key are sent",
    );
  });

  it("does not wait for a pipe that nobody writes to, and refuses one that is too long", async () => {
    const { box, model } = await chatScene([{ text: "One." }, { text: "Two." }]);
    const run = (line: string) =>
      runShell(line, { cwd: box.project, env: { ...box.env, main: commandLine, node } });
    const silent = await run('mkfifo pipe; exec 3<>pipe; "$node" "$main" chat Hello <&3');
    expect(silent).toMatchObject({ code: 0, out: "One.\n" });
    expect(silent.err).toContain("Nothing was piped in within 3 s");
    expect(await run('echo world | "$node" "$main" chat Hello -')).toMatchObject({ code: 0, out: "Two.\n" });
    expect((await model.request(1)).messages.at(-1)?.parts).toEqual([
      { type: "text", text: "Hello\n\nworld" },
    ]);
    const long = await run('head -c 10000001 /dev/zero | "$node" "$main" chat Hello');
    expect(long).toMatchObject({ code: 2, err: expect.stringContaining("larger than 10 MB") });
  });

  it("says that a terminal without a cursor cannot hold a conversation", async () => {
    const { chat } = await chatScene([{ text: "Once." }]);
    expect(await chat([], { forms: [], answers: [] })).toMatchObject({
      code: 2,
      err: expect.stringContaining("This terminal cannot hold a conversation"),
    });
    expect(await chat(["--print", "Hello"], { forms: [], answers: [] })).toMatchObject({ code: 0 });
  });

  it("says what is missing: words, a key, a conversation", async () => {
    const { box, chat } = await chatScene([]);
    expect(await chat([])).toMatchObject({ code: 2, err: expect.stringContaining("nothing to say") });
    expect(await chat(["--continue", "x"])).toMatchObject({ code: 2 });
    expect(await chat(["--resume", "c_abc", "x"])).toMatchObject({ code: 2 });
    expect(await chat(["--resume", "c_abc", "--continue"])).toMatchObject({ code: 2 });
    delete box.env["MODEL_KEY"];
    expect(await chat(["x"])).toMatchObject({
      code: 3,
      err: expect.stringContaining("chat.key needs ${MODEL_KEY}, which is not set."),
    });
  });

  it("refuses what nobody can approve, with a sentence for the model, unless it was allowed", async () => {
    const call = { calls: [{ tool: "fail", args: { message: "it ran" } }] };
    const { chat, model } = await chatScene([
      call,
      { text: "No." },
      call,
      { text: "Yes." },
      call,
      { text: "Yes." },
    ]);
    const refused = await chat(["Try.", "--allow", "nothing.*", "--allow", "it.e*"]);
    expect(refused.err.match(/--allow \S+ matches no tool/g)).toEqual(["--allow nothing.* matches no tool"]);
    expect(refused).toMatchObject({ code: 0, out: "No.\n" });
    expect(refused.err).toContain("it may change something, and nobody is there to ask");
    expect(refused.err).toContain("use --yes to allow it");
    expect((await chat(["Try.", "--allow", "it.f*"])).err).toContain("✗ it ran");
    expect((await chat(["Try.", "--yes"])).err).toContain("✗ it ran");
    const [said] = (await model.request(1)).results.values();
    expect(said?.text).toContain("was not approved");
    expect(said?.text).not.toMatch(/--yes|terminal|`/);
  });

  it("waits in the approval queue if that is on", async () => {
    const { chat, box } = await chatScene(
      [{ calls: [{ tool: "sleep", args: { ms: 1 } }] }, { text: "Slept." }],
      {
        config: { approvals: { queue: true } },
      },
    );
    const answered = Promise.withResolvers<unknown>();
    const waiting = chat(["Sleep."], {
      onErr: (err) => {
        const [, question] = /approvals answer (q_\w+) allow/.exec(err) ?? [];
        if (question !== undefined) answered.resolve(box.cli(["approvals", "answer", question, "allow"]));
      },
    });
    await answered.promise;
    expect(await waiting).toMatchObject({ code: 0, out: "Slept.\n" });
  });

  it.each(providers)("ends the turn when its person cancels a waiting call (%s)", async (provider) => {
    const { events, box, model } = await chatScene(
      [{ calls: [{ tool: "sleep", args: { ms: 1 } }] }, { text: "I go on." }, { text: "Yes?" }],
      { provider, config: { approvals: { queue: true } } },
    );
    const answered = Promise.withResolvers<unknown>();
    const waiting = events(["Sleep."], {
      onErr: (err) => {
        const [, question] = /approvals answer (q_\w+) allow/.exec(err) ?? [];
        if (question !== undefined) answered.resolve(box.cli(["approvals", "answer", question, "cancel"]));
      },
    });
    await answered.promise;
    expect((await waiting).events.at(-1)).toMatchObject({ type: "end", outcome: "cancelled" });
    expect(model.received).toHaveLength(1);
    // The conversation can go on: the call has a result.
    expect((await events(["-c", "Hello?"])).events.at(-1)).toMatchObject({ type: "end", outcome: "done" });
    expect([...(model.received.at(-1)?.results.values() ?? [])]).toMatchObject([
      { text: expect.stringContaining("was cancelled") },
    ]);
  });

  it("ends a loop of tool calls, says so, and can go on", async () => {
    const again = { calls: [{ tool: "echo", args: {} }] };
    const { chat } = await chatScene([again, again, again, { text: "Enough." }], {
      config: { chat: { maxSteps: 3 } },
    });
    const { code, err } = await chat(["Go."]);
    expect(code).toBe(8);
    expect(err).toContain("The model called tools in 3 steps, so the turn ends here.");
    expect(await chat(["-c", "go on"])).toMatchObject({ code: 0, out: "Enough.\n" });
  });

  it("attaches mentioned resources, and fills in prompts", async () => {
    const { chat, model } = await chatScene([{ text: "Read." }, { text: "Hi." }, { text: "A path." }]);
    const { err } = await chat(["Read @it:fake://readme and @it:fake://gone."]);
    expect(err).toContain("note: @it:fake://gone could not be read: ");
    const [first] = model.received;
    const texts = first?.messages.at(-1)?.parts.map((part) => (part.type === "text" ? part.text : ""));
    expect(texts?.[1]).toBe("@it:fake://readme:\ntext of fake://readme");
    expect(texts?.[2]).toContain("@it:fake://gone could not be read");
    await chat(["/mcp__it__greet who=Ada"]);
    expect((await model.request(1)).messages.at(-1)?.parts).toEqual([
      { type: "text", text: 'greet {"who":"Ada"}' },
    ]);
    expect(await chat(["/etc/hosts is what?"])).toMatchObject({ code: 0, out: "A path.\n" });
    expect(await chat(["/mcp__it__nothing"])).toMatchObject({ code: 4 });
  });

  it("never lets words of the model or a server move the cursor", async () => {
    const evil = "\u001b[2J\u202eevil\u0007";
    const { chat } = await chatScene([
      { text: evil, calls: [{ tool: "echo", args: { [evil]: evil } }] },
      { status: 400, message: evil },
    ]);
    const { out, err } = await chat(["Hello."], { screen: { columns: 80, rows: 24 } });
    expect(out).toContain("\\u{1b}[2J\\u{202e}evil\\u{7}");
    expect(out + err).not.toMatch(/[\u0007\u202e]|\u001b\[2J/);
  });

  it("never lets words of the model have colours, or look like lines of ours", async () => {
    const { chat } = await chatScene([{ text: ["a\u001b[31mred \u001b", "[32m✓ one\r", "\ntwo"] }]);
    const { out } = await chat(["Hello."], { screen: { columns: 80, rows: 24 } });
    expect(out).toBe("a\\u{1b}[31mred \\u{1b}[32m✓ one\ntwo\n");
  });

  it("ends as cancelled when its person cancels an approval, with one event a line", async () => {
    const { events } = await chatScene([{ calls: [{ tool: "sleep", args: { ms: 1 } }] }]);
    const run = await events(["Sleep."], { forms: [undefined] });
    expect(run.events.at(-1)).toMatchObject({
      type: "end",
      outcome: "cancelled",
      error: { code: "call-cancelled" },
    });
    expect(run.code).toBe(errorTable["call-cancelled"].exitCode);
  });

  it("keeps conversations for this user only, without media and without the key", async () => {
    const { box, chat } = await chatScene([{ calls: [{ tool: "draw" }] }, { text: "A dot." }], {
      script: drawing,
    });
    await chat(["Draw."]);
    const folder = join(box.folders.state, "chats");
    const [file = ""] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    const kept = readFileSync(join(folder, file), "utf8");
    expect(kept).toContain("A dot.");
    expect(kept).not.toContain(png);
    expect(kept).not.toContain(modelKey);
    expect(existsSync(join(folder, "history"))).toBe(false);
  });

  it("cancels the call and tells its server when it is interrupted", async () => {
    const { chat, box } = await chatScene([{ calls: [{ tool: "sleep", args: { ms: 60_000 } }] }], {
      script: { log: "/dev/null" },
    });
    const log = box.write("log", "");
    const interrupt = new AbortController();
    const { Interrupted } = await import("../../src/cli/terminal/signals.ts");
    const config = JSON.parse(box.read("home/.config/plugboard/config.json")) as {
      mcpServers: { it: { args: string[] } };
    };
    config.mcpServers.it.args[1] = JSON.stringify({ log });
    box.write("home/.config/plugboard/config.json", config);
    const seen = () => readFileSync(log, "utf8");
    const running = chat(["Sleep.", "--yes"], { signal: interrupt.signal });
    await expect.poll(seen, { timeout: 10_000 }).toContain('\\"name\\":\\"sleep\\"');
    interrupt.abort(new Interrupted("SIGINT"));
    expect((await running).code).toBe(130);
    expect(seen()).toContain("notifications/cancelled");
  });
});
