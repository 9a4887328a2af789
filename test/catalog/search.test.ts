import { describe, expect, it } from "vitest";
import type { View } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { hubOf, ListServer, named, object } from "./list-server.ts";

const tool = (name: string, description?: string, more: object = {}) => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema: object,
  ...more,
});

const files = new ListServer({
  tools: [
    tool("read_file", "Reads the contents of a file from disk."),
    tool("writeFile", "Saves text to a path."),
    tool("ls", undefined, { title: "Show a directory" }),
  ],
});
const weather = new ListServer({
  tools: [
    tool("forecast", "Tells how warm or wet it gets.", {
      inputSchema: {
        type: "object",
        properties: {
          place: { type: "string", description: "Name of a municipality" },
          options: { type: "object", properties: { humidityUnit: { type: "string" } } },
        },
      },
    }),
  ],
});

async function names(view: View, query: string, options = {}) {
  return (await view.search(query, options)).map(({ tool: found }) => found.name);
}

const twoServers = () => hubOf({ files: files.entry, weather: weather.entry });

describe("M49 a search", () => {
  it.each([
    ["read file", "read_file", "its name"],
    ["write file", "writeFile", "a name in camel case"],
    ["directory", "ls", "its title"],
    ["contents on disk", "read_file", "its description"],
    ["reading the content of files", "read_file", "another form of its words"],
    ["municipality", "forecast", "the description of a parameter"],
    ["humidity unit", "forecast", "the name of a nested parameter"],
    ["weather", "forecast", "its server"],
    ["folder", "ls", "a word that means the same"],
    ["forcast", "forecast", "a misspelt word"],
  ])("for “%s” finds %s by %s", async (query, expected) => {
    expect((await names(await twoServers(), query))[0]).toBe(expected);
  });

  it("returns each tool once, also where all tools have every word that is asked for", async () => {
    const inputSchema = { type: "object", properties: { path: { type: "string" } } };
    const one = new ListServer({ tools: [tool("other", "Other.", { inputSchema })] });
    const tools = ["read_file", "constructor", "__proto__"].map((name) => tool(name, "x", { inputSchema }));
    const files = new ListServer({ tools });
    const hub = await hubOf({ b: one.entry, files: files.entry });
    const found = await names(hub, "read file");
    expect(found[0]).toBe("read_file");
    expect(found).toHaveLength(4);
    expect(new Set(found).size).toBe(4);
    // A search that counted a tool twice would also have pushed others out.
    expect(await names(hub, "file")).toHaveLength(4);
  });

  it("returns the tools as `tools` does, with falling scores, and 10 unless told otherwise", async () => {
    const many = new ListServer({
      tools: named(...Array.from({ length: 30 }, (_, at) => `send_mail_${at}`)),
    });
    const hub = await hubOf({ many: many.entry });
    const found = await hub.search("send mail");
    expect(found).toHaveLength(10);
    const tools = await hub.tools();
    for (const one of found) expect(tools).toContain(one.tool);
    const scores = found.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(await hub.search("send mail", { limit: 3 })).toEqual(found.slice(0, 3));
    expect(await hub.search("send mail", { limit: 1_000 })).toHaveLength(30);
    expect(await hub.search("bake bread")).toEqual([]);
  });

  it("finds each of several things that a long text asks for", async () => {
    const hub = await twoServers();
    const found = await names(
      hub,
      "I am planning a picnic with my family. How warm will it be in our place? Also, please save the list of guests to a file.",
    );
    expect(new Set(found.slice(0, 2))).toEqual(new Set(["forecast", "writeFile"]));
  });

  it("finds words of other languages, with and without spaces", async () => {
    const tools = [tool("a", "查询城市天气预报"), tool("b", "Übersetzt Texte"), tool("c", "Ищет файлы")];
    const hub = await hubOf({ it: new ListServer({ tools }).entry });
    expect(await names(hub, "天气")).toEqual(["a"]);
    expect(await names(hub, "übersetzt")).toEqual(["b"]);
    expect(await names(hub, "файлы")).toEqual(["c"]);
  });

  it("with a server finds only its tools, and says why it cannot be searched", async () => {
    const down = new ListServer();
    down.isDown = true;
    const hub = await hubOf({ files: files.entry, weather: weather.entry, down: down.entry });
    expect(await names(hub, "file place", { server: "weather" })).toEqual(["forecast"]);
    await expect(hub.search("file", { server: "down" })).rejects.toMatchObject({ server: "down" });
    await expect(hub.search("file", { server: "nobody" })).rejects.toMatchObject({ code: "server-unknown" });
    expect(await names(hub, "read file")).toContain("read_file");
  });

  it.each([
    ["no words", "", {}],
    ["only signs", " ?! — 👋", {}],
    ["a limit of 0", "file", { limit: 0 }],
    ["a limit that is no whole number", "file", { limit: 1.5 }],
  ])("with %s is refused, with a hint, before any server is asked", async (_, query, options) => {
    const server = new ListServer({ tools: named("file") });
    const hub = await hubOf({ it: server.entry });
    await expect(hub.search(query, options)).rejects.toMatchObject({
      code: "usage-invalid",
      hint: expect.stringMatching(/./) as unknown,
    });
    expect(server.connects).toBe(0);
  });

  it("of stop words alone means them", async () => {
    const hub = await hubOf({ it: new ListServer({ tools: named("get", "other") }).entry });
    expect((await names(hub, "get"))[0]).toBe("get");
  });

  it("without waiting starts no server, and one that is stopped asks none", async () => {
    const server = new ListServer({ tools: named("file") });
    const hub = await hubOf({ it: server.entry });
    expect(await hub.search("file", { wait: false })).toEqual([]);
    const signal = AbortSignal.abort();
    await expect(hub.search("file", { signal })).rejects.toMatchObject({ code: "call-cancelled" });
    expect(server.connects).toBe(0);
    expect(await names(hub, "file")).toEqual(["file"]);
    expect(await names(hub, "file", { wait: false })).toEqual(["file"]);
    await expect(hub.search("file", { signal })).rejects.toMatchObject({ code: "call-cancelled" });
  });

  it("searches the tools of real programs", async () => {
    const hub = await hubOf({ it: fakeStdio({ tools: [tool("send_mail", "Sends a message")] }) });
    expect(await names(hub, "message")).toEqual(["send_mail"]);
  });
});

describe("M49 a search never finds", () => {
  it("what is hidden, set aside, or only for apps", async () => {
    const tools = [
      tool("mail_open"),
      tool("mail_hidden"),
      tool("mail_broken", "mail", { inputSchema: { type: "object", properties: 7 } }),
      tool("mail_app", "mail", { _meta: { ui: { visibility: ["app"] } } }),
      tool("mail_open", "mail, a second time"),
    ];
    const it = new ListServer({ tools });
    const hub = await hubOf({ it: { server: it, tools: { deny: ["mail_hidden"] } } });
    expect((await hub.allTools()).map(({ status }) => status)).toContain("set-aside");
    const found = await hub.search("mail");
    const available = (await hub.tools()).map(({ id }) => id);
    expect(found.map((one) => one.tool.id).sort()).toEqual(available.sort());
    expect(found.map((one) => one.tool.name)).not.toContain("mail_app");
  });

  it("what a view does not show, and its scores say nothing about it", async () => {
    const secret = new ListServer({ tools: named("mail_secret", "mail_other", "forecast_mail") });
    const apart = await hubOf({ files: files.entry, weather: weather.entry });
    const hub = await hubOf(
      { files: files.entry, weather: weather.entry, secret: secret.entry },
      {},
      { bundles: { some: { servers: ["files", "weather"] } } },
    );
    expect(await names(hub, "mail")).toContain("mail_secret");
    const views = [
      hub.view({ servers: ["files", "weather"] }),
      hub.view({ exclude: ["secret"] }),
      hub.view({ bundle: "some" }),
      hub.view({ tools: ["mcp__files__*", "mcp__weather__*"] }),
    ];
    for (const view of views) {
      expect(await view.search("mail")).toEqual([]);
      expect(await view.search("forecast of files")).toEqual(await apart.search("forecast of files"));
      await expect(view.search("mail", { server: "nobody" })).rejects.toMatchObject({
        code: "server-unknown",
      });
    }
    expect(await names(hub, "mail")).toContain("mail_secret");
  });

  it("what only another caller is offered", async () => {
    const hub = await hubOf({
      it: {
        server: {
          connect: (transport) => new ListServer({ tools: named(`mail_${++connects}`) }).connect(transport),
        },
        isolation: "caller",
      },
    });
    let connects = 0;
    const [alice, bob] = [hub.view({ caller: "alice" }), hub.view({ caller: "bob" })];
    expect(await names(alice, "mail")).toEqual(["mail_1"]);
    expect(await names(bob, "mail")).toEqual(["mail_2"]);
    expect(await names(alice, "mail")).toEqual(["mail_1"]);
  });
});

describe("M49 what a search finds is as fresh as the lists", () => {
  it("after the server reports a change, and only that server is asked", async () => {
    const changing = new ListServer({ tools: named("send_mail") });
    const other = new ListServer({ tools: named("send_letter") });
    const hub = await hubOf({ changing: changing.entry, other: other.entry });
    expect(await names(hub, "mail")).toEqual(["send_mail"]);
    changing.tools = named("send_fax");
    const told = new Promise((resolve) => hub.on("catalog-changed", resolve));
    changing.changed("tools");
    await told;
    expect(await names(hub, "fax")).toEqual(["send_fax"]);
    expect(await names(hub, "mail")).toEqual([]);
    expect(await names(hub, "letter")).toEqual(["send_letter"]);
    expect(other.count("tools/list")).toBe(1);
  });

  it("after servers are added, removed and configured anew", async () => {
    const hub = await twoServers();
    expect(await names(hub, "read file")).toContain("read_file");
    await hub.remove("files");
    expect(await names(hub, "read file")).toEqual([]);
    await hub.add("files", { server: files, tools: { describe: { ls: "Teleports" } } });
    expect(await names(hub, "teleport")).toEqual(["ls"]);
    expect(await names(hub, "read file")).toContain("read_file");
  });

  it("for searches at the same time, whichever list each began with", async () => {
    const hub = await twoServers();
    const both = hub.view({ caller: "alice" });
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, at) => names(at % 2 ? both : hub, at % 3 ? "read file" : "forecast")),
    );
    for (const [at, [first]] of found.entries()) expect(first).toBe(at % 3 ? "read_file" : "forecast");
  });
});

describe("M49 hostile texts", () => {
  it("are read only so far, and the other tools are found as before", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [
        `mailParameter${at}`,
        { type: "string", description: "x".repeat(50) },
      ]),
    );
    const tools = [
      tool("long", "mail ".repeat(200_000)),
      tool("glued", "m".repeat(1_000_000)),
      tool("wide", "", { inputSchema: { type: "object", properties } }),
      tool("constructor", "__proto__ toString hasOwnProperty"),
      tool("send_mail", "Sends a mail"),
    ];
    const hub = await hubOf({ it: new ListServer({ tools }).entry });
    expect((await names(hub, "send a mail"))[0]).toBe("send_mail");
    expect((await names(hub, "constructor"))[0]).toBe("constructor");
    expect(await names(hub, "valueOf")).toEqual([]);
  });

  it("of a query are read only so far", async () => {
    const hub = await twoServers();
    const long = "forecast ".repeat(200_000);
    expect(await names(hub, long)).toEqual(["forecast"]);
    expect(await names(hub, `forecast${".".repeat(1_000_000)} ${", and".repeat(100_000)}`)).toEqual([
      "forecast",
    ]);
  });
});
