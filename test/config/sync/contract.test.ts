import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseDocument, syntaxOf } from "../../../src/config/documents/document.ts";
import { editFile } from "../../../src/config/edit.ts";
import { exportServers } from "../../../src/config/export.ts";
import { formats, type Format, type Merging, type NamedServer } from "../../../src/config/formats/index.ts";
import { compareDocument } from "../../../src/config/sync/plan.ts";
import { cases } from "../formats/cases/index.ts";
import { context } from "../formats/read-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "plugboard-sync-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

const mergeable = formats.flatMap((format) =>
  format.merging ? [{ ...format, merging: format.merging }] : [],
);

const probe: NamedServer = {
  name: "probe",
  config: { command: "uvx", args: ["probe-mcp", "--level=1"], env: { LEVEL: "1" } },
};

describe("M10 merging into every client's file", () => {
  it("works for all clients that can be written, also those with a list of servers", () => {
    expect(formats.filter(({ write, merging }) => write && !merging)).toEqual([]);
    const lists = mergeable.filter(({ merging }) => merging.nameField).map(({ id }) => id);
    expect(lists).toEqual(["continue", "vibe"]);
  });

  describe.each(mergeable)("$title", (format) => {
    // VS Code's old settings are read, but servers are written to its own file for them.
    const fixtures = cases
      .find(({ id }) => id === format.id)!
      .fixtures.map(({ file }) => file)
      .filter((file) => format.id !== "vscode" || file !== "settings.json");

    it.each(fixtures)("adds a server to %s and keeps every word that was there, in order", async (name) => {
      const { path, before } = copy(format, name);
      const known = await read(format, path);
      await merge(format, path, [probe]);
      const after = readFileSync(path, "utf8");
      expect(missingWords(before, after)).toEqual([]);
      const servers = await read(format, path);
      expect(servers.get("probe")).toEqual(probe.config);
      servers.delete("probe");
      expect(servers).toEqual(known);
      expect((await compare(format, path, [probe])).changes).toEqual([]);
    });

    it.each(fixtures)(
      "changes only what differs in %s, keeps what is switched off, and changes nothing the second time",
      async (name) => {
        const { path } = copy(format, name);
        const known = await read(format, path);
        const ours = [...known].map(([server, config]) => ({ name: server, config }));
        expect((await compare(format, path, ours)).changes).toEqual([]);
        const changed = ours.map(({ name: server, config: { enabled: _off, ...config } }) =>
          config.command === undefined
            ? { name: server, config: { ...config, url: "https://moved.example/mcp" } }
            : { name: server, config: { ...config, args: ["moved-mcp"] } },
        );
        await merge(format, path, changed);
        const servers = await read(format, path);
        for (const { name: server, config } of changed) {
          expect(servers.get(server)?.url).toBe(config.url);
          expect(servers.get(server)?.args).toEqual(config.args);
          expect(servers.get(server)?.enabled).toBe(known.get(server)?.enabled);
        }
        expect((await compare(format, path, changed)).changes).toEqual([]);
      },
    );

    it("turns a local server into a remote one and back", async () => {
      const { path } = copy(format, undefined);
      await merge(format, path, [probe]);
      const remote: NamedServer = { name: "probe", config: { type: "http", url: "https://n.example/mcp" } };
      await merge(format, path, [remote]);
      expect((await read(format, path)).get("probe")).toEqual(remote.config);
      await merge(format, path, [probe]);
      expect((await read(format, path)).get("probe")).toEqual(probe.config);
    });

    it("creates a file that the client reads", async () => {
      const { path } = copy(format, undefined);
      await merge(format, path, [probe]);
      expect(await read(format, path)).toEqual(new Map([["probe", probe.config]]));
      writeFileSync(path, (await exportServers(format, [probe])).text);
      expect(await read(format, path)).toEqual(new Map([["probe", probe.config]]));
    });
  });
});

type Mergeable = Format & { merging: Merging };

function copy(format: Format, fixture: string | undefined): { path: string; before: string } {
  const name = fixture ?? `new.${format.syntax === "jsonc" ? "json" : format.syntax}`;
  const path = join(mkdtempSync(join(folder, "copy-")), name);
  if (fixture === undefined) return { path, before: "" };
  const source = new URL(`../../fixtures/formats/${format.id}/${fixture}`, import.meta.url);
  const before = readFileSync(source, "utf8");
  writeFileSync(path, before);
  return { path, before };
}

/** The words of a text that another does not have in the same order; a further member may add a comma. */
function missingWords(before: string, after: string): string[] {
  const words = (text: string) => text.replaceAll(",", " ").split(/\s+/).filter(Boolean);
  const there = words(after);
  let at = 0;
  return words(before).filter((word) => {
    const found = there.indexOf(word, at);
    if (found !== -1) at = found + 1;
    return found === -1;
  });
}

async function documentOf(path: string): Promise<Record<string, unknown>> {
  const { value } = await parseDocument(readFileSync(path, "utf8"), syntaxOf(path)!);
  return value as Record<string, unknown>;
}

async function read(format: Format, path: string) {
  const { servers } = format.read(await documentOf(path), context());
  return new Map(servers.filter(({ local }) => !local).map(({ name, config }) => [name, config]));
}

async function compare(format: Mergeable, path: string, servers: NamedServer[]) {
  const known = new Set(servers.map(({ name }) => name));
  return compareDocument(format, await documentOf(path), servers, { context: context(), known });
}

async function merge(format: Mergeable, path: string, servers: NamedServer[]): Promise<void> {
  const lock = <T>(_key: string, work: (held: never) => Promise<T>) =>
    work({ signal: new AbortController().signal } as never);
  const known = new Set(servers.map(({ name }) => name));
  await editFile(
    path,
    { lock, newFileMode: 0o600, containers: [] },
    (value) => compareDocument(format, value, servers, { context: context(), known }).changes,
  );
}
