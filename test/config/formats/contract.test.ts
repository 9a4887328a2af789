import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formats, type ImportedFile } from "../../../src/config/formats/index.ts";
import { serverSchema } from "../../../src/config/server-schema.ts";
import type { Fixture } from "./cases/case.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf, readFixture } from "./read-fixture.ts";

describe("M10 every client's format", () => {
  it("has a case in this suite", () => {
    expect(cases.map(({ id }) => id)).toEqual(formats.map(({ id }) => id));
  });

  describe.each(cases)("$id", ({ id, document, entry, fixtures }) => {
    const format = formatOf(id);
    const readProbe = (probe: unknown) => format.read(document(probe), context());

    it.each(fixtures)("reads $file as the client means it", (fixture) => {
      const file = readCase(fixture);
      expect(Object.fromEntries(file.servers.map(({ name, config }) => [name, config]))).toEqual(
        fixture.servers,
      );
      expect(noteLines(file)).toEqual(fixture.notes);
      expect(file.skipped.map(({ name }) => name)).toEqual(fixture.skipped ?? []);
      expect(file.bundles).toEqual(fixture.bundles);
    });

    it.each(fixtures)("turns $file into valid servers", (fixture) => {
      const { servers } = readCase(fixture);
      expect(servers.filter(({ config }) => !serverSchema.safeParse(config).success)).toEqual([]);
    });

    it.each(fixtures)("never repeats a secret from $file in its notes", (fixture) => {
      const { servers, notes, skipped } = readCase(fixture);
      const said = JSON.stringify([servers.map((server) => server.notes), notes, skipped]);
      expect(said).not.toMatch(/plain-value/);
    });

    it("reads a minimal entry", () => {
      expect(readProbe(entry).servers.map(({ name, config }) => [name, config.command])).toEqual([
        ["probe", "uvx"],
      ]);
    });

    it("reports unknown fields", () => {
      const [server] = readProbe({ ...entry, unheardOf: { a: 1 } }).servers;
      expect(server?.notes).toContainEqual(expect.objectContaining({ kind: "lost", field: "unheardOf" }));
    });

    it.each([null, 5, "text", true, [], [[]], {}])(
      "skips %j where a server belongs, with a reason",
      (wrong) => {
        const file = readProbe(wrong);
        expect(file.servers).toEqual([]);
        expect(file.skipped.map(({ reason }) => reason)).toEqual([expect.stringMatching(/./)]);
      },
    );

    it.each(Object.keys(entry))("skips a server whose %s has the wrong type, with a reason", (field) => {
      const file = readProbe({ ...entry, [field]: { $: [1] } });
      expect(file.servers).toEqual([]);
      expect(file.skipped).toHaveLength(1);
    });

    it("accepts names such as __proto__ as ordinary names", () => {
      const internals = JSON.parse(
        '{ "__proto__": { "polluted": 1 }, "constructor": 1, "toString": "x" }',
      ) as object;
      const file = readProbe({ ...internals, ...entry, env: internals });
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(file.servers.length + file.skipped.length).toBe(1);
    });

    it("never throws, whatever the document contains", () => {
      const anything = fc.anything({ withNullPrototype: true, withObjectString: true, maxDepth: 4 });
      const fields = fc.constantFrom(...fieldNames);
      const almost = fc.dictionary(fields, fc.oneof(anything, fc.string(), fc.constant(entry)), {
        maxKeys: 8,
      });
      fc.assert(
        fc.property(fc.oneof(anything, almost, almost.map(document), anything.map(document)), (value) => {
          const file = format.read(value, context());
          for (const { config } of file.servers) expect(serverSchema.safeParse(config).success).toBe(true);
        }),
        { numRuns: 300 },
      );
    });

    it("knows where its files are on every platform", () => {
      for (const platform of ["linux", "darwin", "win32"] as const) {
        const files = format.files({ home: "/home/ada", platform, env: {}, projectRoot: "/home/ada/app" });
        const roots = files.map(({ path }) => path.replaceAll("\\", "/").startsWith("/home/ada/"));
        expect(roots).not.toContain(false);
      }
    });

    function readCase({ file, scope = "user" }: Fixture): ImportedFile {
      return format.read(readFixture(format, file), context({ scope, file }));
    }
  });
});

function noteLines({ servers, notes }: ImportedFile): string[] {
  const ofServers = servers.flatMap(({ name, notes }) =>
    notes.map(({ kind, field }) => `${name}: ${kind} ${field}`),
  );
  return [...ofServers, ...notes.map(({ kind, field }) => `${kind} ${field}`)];
}

const fieldNames =
  `mcpServers mcp_servers servers mcp context_servers extensions amp.mcpServers config bundles inputs
  projects command args env url httpUrl serverUrl headers type transport oauth auth tools timeout env_vars trust
  require_approval name alias disabled enabled autoApprove scopes headersHelper __proto__ constructor`.split(
    /\s+/,
  );
