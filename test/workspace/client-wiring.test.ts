import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { formats, Workspace } from "../../src/config.ts";
import type { Format } from "../../src/config.ts";
import { clientFile } from "../../src/config/sync/client-file.ts";
import { cases } from "../config/formats/cases/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const gateway = {
  name: "plugboard",
  config: { command: "/usr/bin/node", args: ["/opt/main.js", "serve", "--stdio"] },
};
const other = { name: "other-one", config: { type: "http" as const, url: "https://n.example/mcp" } };

const clients = formats.filter(({ merging }) => merging);

/** Files as people have them, besides the realistic ones. */
const usual: Record<Format["syntax"], string[]> = {
  jsonc: [
    "",
    " \n\n",
    "{}",
    "{}\n\n\n",
    '{"theme":"dark"}',
    '{ "theme": "dark", "list": [1, 2] } // the end',
    '{\n\t"theme": "dark", // tabs\n\t"last": { "a": 1 } // no comma\n}',
    '// first\n{\n    "theme": "dark",\n    "last": 1, // trailing comma\n}\n// last\n',
    '{\n  "theme": "dark"\n\n\n}\n',
  ],
  toml: [
    "",
    "\n\n",
    "# only a comment",
    'model = "o4"',
    '\n\nmodel = "o4" # mine\n\n\n[tui]\n\ttheme = "dark"\n\n\n\n',
    '[history]\r\npersistence = "none"\r\n',
  ],
  yaml: [
    "",
    "\n",
    "# only a comment\n",
    "theme: dark",
    "theme: dark # mine\n\n\n",
    "a:\n    b: [1, 2]\n# the end\n",
    "---\na: 1\n",
  ],
};

function textsFor(format: Format): string[] {
  const ending = { jsonc: /\.jsonc?$/, toml: /\.toml$/, yaml: /\.ya?ml$/ }[format.syntax];
  // VS Code's old settings and Continue's blocks are only read.
  const files = cases.find(({ id }) => id === format.id)!.fixtures.map(({ file }) => file);
  const real = files
    .filter((file) => ending.test(file) && !(format.id === "vscode" && file === "settings.json"))
    .map((file) =>
      readFileSync(new URL(`../fixtures/formats/${format.id}/${file}`, import.meta.url), "utf8"),
    );
  const varied = real.flatMap((text) => [
    text,
    text.replaceAll("\n", "\r\n"),
    `\uFEFF${text.replaceAll("\n", "\r\n")}`,
    text.trimEnd(),
    format.syntax === "yaml" ? text : text.replaceAll("\n  ", "\n\t"),
  ]);
  return [...usual[format.syntax], ...varied];
}

/** Nothing, one without servers, and a real one. */
function fewTextsFor(format: Format): string[] {
  const all = textsFor(format);
  return ["", usual[format.syntax].at(-2) ?? "", all[usual[format.syntax].length] ?? ""];
}

/** A home with one file of this client, or without it. */
async function scene(format: Format, before?: string) {
  const box = createSandbox();
  const workspace = await Workspace.open(box.options);
  const file = clientFile(format, "user", workspace.machine)!.path;
  if (before !== undefined) write(file, before);
  const { wiring } = workspace;
  const add = async (...servers: (typeof gateway | typeof other)[]) => {
    const plan = await wiring.plan(format, "user", servers);
    expect(plan.problem).toBeUndefined();
    await wiring.add(plan);
    return plan.compared.servers.map(({ state }) => state);
  };
  const remove = (...names: string[]) => wiring.remove(format, "user", names);
  const read = () => readFileSync(file, "utf8");
  const put = (text: string) => write(file, text);
  return {
    put,
    box,
    file,
    workspace,
    wiring,
    add,
    remove,
    read,
    [Symbol.asyncDispose]: () => workspace.close(),
  };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function filesIn(box: Sandbox): string[] {
  const all = readdirSync(box.home, { recursive: true }) as string[];
  return all.filter((name) => !/^(\.local|\.cache|project)(\/|$)/.test(name));
}

describe("M10 wiring a client and taking it out again", () => {
  it("works for every client that can be written", () => {
    expect(clients.map(({ id }) => id)).toEqual(formats.filter(({ write: has }) => has).map(({ id }) => id));
    expect(clients.length).toBeGreaterThan(25);
  });

  describe.each(clients)("$title", (format) => {
    it("leaves no file and no folder behind where there was none", async () => {
      await using client = await scene(format, undefined);
      const before = filesIn(client.box);
      expect(await client.add(gateway)).toEqual(["missing"]);
      expect(client.read()).toContain("/opt/main.js");
      expect(await client.remove("plugboard")).toMatchObject({ how: "restored", isGone: true });
      expect(filesIn(client.box)).toEqual(before);
      expect((await client.wiring.read(format, "user")).entries).toEqual([]);
    });

    it("gives every file back byte for byte, and changes nothing when added twice", async () => {
      await using client = await scene(format, "");
      for (const before of textsFor(format)) {
        client.put(before);
        chmodSync(client.file, 0o640);
        await client.add(gateway);
        const wired = client.read();
        expect(wired).toContain("/opt/main.js");
        expect(await client.add(gateway)).toEqual(["same"]);
        expect(client.read()).toBe(wired);
        expect(await client.remove("plugboard")).toMatchObject({ how: "restored", isGone: false });
        expect(client.read()).toBe(before);
        expect(statSync(client.file).mode & 0o777).toBe(0o640);
        expect(await client.remove("plugboard")).toBeUndefined();
      }
    });

    it("keeps what a person changed in between, byte for byte", async () => {
      const comment = format.syntax === "jsonc" ? "// of a person" : "# of a person";
      for (const before of textsFor(format).filter(
        (text) => text.trim() !== "" && !text.startsWith("\uFEFF"),
      )) {
        const newline = before.includes("\r\n") ? "\r\n" : "\n";
        await using client = await scene(format, before);
        await client.add(gateway);
        writeFileSync(client.file, `${comment}${newline}${client.read()}`);
        expect(await client.remove("plugboard")).toMatchObject({ how: "cut" });
        expect(client.read()).toBe(`${comment}${newline}${before}`);
      }
    });

    it("takes out one of two entries and then the other, also after a change of the first", async () => {
      await using client = await scene(format);
      for (const before of fewTextsFor(format)) {
        client.put(before);
        await client.add(gateway, other);
        const moved = {
          ...gateway,
          config: { ...gateway.config, args: ["/opt/newer.js", "serve", "--stdio"] },
        };
        expect(await client.add(moved, other)).toEqual(["different", "same"]);
        expect(client.read()).toContain("/opt/newer.js");
        await client.remove("plugboard", "other-one");
        expect(client.read()).toBe(before);
        await client.add(gateway);
        await client.add(other);
        await client.remove("plugboard");
        expect(client.read()).toContain("n.example");
        await client.remove("other-one");
        expect(client.read()).toBe(before);
      }
    });
  });

  it("edits a file that the client has written anew, and keeps what else it says", async () => {
    const before = { theme: "dark", mcpServers: { mine: { command: "mine" } } };
    for (const first of [before, { theme: "dark" }, undefined]) {
      const text = first && JSON.stringify(first, null, 2);
      await using client = await scene(
        formats.find(({ id }) => id === "claude-code")!,
        text,
      );
      await client.add(gateway);
      const own = JSON.parse(client.read()) as object;
      writeFileSync(client.file, JSON.stringify({ numStartups: 4, ...own }, null, "\t"));
      expect(await client.remove("plugboard")).toMatchObject({ how: "edited" });
      expect(JSON.parse(client.read())).toEqual({ numStartups: 4, ...first });
    }
  });

  it("loses none of two entries that are added at the same time", async () => {
    const cursor = formats.find(({ id }) => id === "cursor")!;
    const text = '{ "theme": "dark" }';
    await using client = await scene(cursor, text);
    await using second = await Workspace.open(client.box.options);
    const add = async ({ wiring }: Workspace, server: typeof gateway | typeof other) =>
      wiring.add(await wiring.plan(cursor, "user", [server]));
    await Promise.all([add(client.workspace, gateway), add(second, other)]);
    expect((await client.wiring.read(cursor, "user")).entries.toSorted()).toEqual(["other-one", "plugboard"]);
    await client.remove("plugboard", "other-one");
    expect(client.read()).toBe(text);
  });

  it("does not touch another server of the same name", async () => {
    const text = '{ "mcpServers": { "plugboard": { "command": "another" } } }';
    await using client = await scene(
      formats.find(({ id }) => id === "cursor")!,
      text,
    );
    expect(await client.add(gateway)).toEqual(["other"]);
    expect(client.read()).toBe(text);
  });

  it("names the line of a file that cannot be read, and leaves it", async () => {
    const text = '{\n  "mcpServers": {\n}\n';
    await using client = await scene(
      formats.find(({ id }) => id === "cursor")!,
      text,
    );
    const plan = await client.wiring.plan(
      formats.find(({ id }) => id === "cursor")!,
      "user",
      [gateway],
    );
    expect(plan.problem).toMatch(/line \d/);
    await expect(client.wiring.add(plan)).rejects.toThrow(/mcp\.json:\d+:\d+/);
    expect(client.read()).toBe(text);
    expect(existsSync(client.file)).toBe(true);
  });
});
