import { describe, expect, it } from "vitest";
import { stringify as stringifyYaml } from "yaml";
import type { Format } from "../../../src/config/formats/index.ts";
import { notation, parseDocument } from "../../../src/config/documents/document.ts";
import { referencesIn } from "../../../src/config/template.ts";
import type { ServerConfig } from "../../../src/config/server-schema.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf } from "./read-fixture.ts";

/** No client has `${cmd:…}`, so nothing that a client's file says may run a command of this kind. */
const hostile = [
  "${cmd:touch /tmp/x}",
  "$${cmd:touch x}",
  "$$${cmd:touch x}",
  "${A:-${cmd:touch x}}",
  "${A:-$${cmd:touch x}}",
  "${A:-${B:-${cmd:touch x}}}",
  "{file:x:-${cmd:touch x}}",
  "{env:A}${cmd:touch x}",
  "$env:A${cmd:touch x}",
  "${file:x:-${cmd:touch x}}",
  "${env:A:-${cmd:touch x}}",
  "${input:x:-${cmd:touch x}}",
  "${{ secrets.A }}${cmd:touch x}",
  "$${{ secrets.A }}{cmd:touch x}",
  "%A%${cmd:touch x}",
  "${cmd:${A}}",
];

describe("M10 a client's plain text never becomes our syntax", () => {
  describe.each(cases)("$id", ({ id, document, entry }) => {
    const format = formatOf(id);

    it("in arguments, values and headers, however the file escapes it", async () => {
      for (const probe of probes(entry, hostile)) {
        for (const escaped of await escapedTexts(format, document(probe))) {
          expect(await commandsIn(format, escaped)).toEqual([]);
        }
      }
    });

    it.each(hostile)("in any field: %s", (text) => {
      for (const probe of probes(entry, [text])) {
        const { servers } = format.read(document(probe), context());
        expect(servers.flatMap(({ config }) => commands(config))).toEqual([]);
      }
    });
  });

  it("in a URL's user name, an option of mcp-remote or a variable that it fills in", () => {
    const url = "https://notes.example/mcp";
    const client = String.raw`{ "client_id": "\u0024{cmd:id}", "client_secret": "\u0024{cmd:id}" }`;
    const args = ["mcp-remote", url, "--static-oauth-client-info", client, "--header", "X-A: $${A}${B}"];
    const entry = { command: "npx", args, env: { A: "{cmd:id}", B: "$", NODE_EXTRA_CA_CERTS: "${cmd:id}" } };
    const [server] = formatOf("claude-desktop").read({ mcpServers: { a: entry } }, context()).servers;
    expect(server?.config.oauth).toEqual({ clientId: "$${cmd:id}", clientSecret: "$${cmd:id}" });
    expect(server?.config.headers).toEqual({ "X-A": "$${cmd:id}$" });
    expect(commands(server!.config)).toEqual([]);
  });

  it("in the name of a secret", () => {
    const env_keys = ["GOOD", "A} ${cmd:id", "B:-${cmd:id}"];
    const document = { extensions: { a: { type: "stdio", cmd: "x", enabled: true, env_keys } } };
    const [server] = formatOf("goose").read(document, context()).servers;
    expect(server?.config.env).toEqual({ GOOD: "${secret:GOOD}" });
    expect(server?.notes.map(({ kind }) => kind)).toEqual(["needs-secret", "lost", "lost"]);
  });
});

/** Local and remote entries with these texts wherever a client may have them. */
function probes(entry: Record<string, unknown>, texts: readonly string[]): Record<string, unknown>[] {
  const [text = ""] = texts;
  const members = Object.fromEntries(texts.map((one, index) => [`N${index}`, one]));
  const url = `https://a.example/${text}`;
  const fields = {
    args: texts,
    env: members,
    envs: members,
    environment: members,
    cwd: text,
    oauth: { clientId: text, clientSecret: text, client_secret: text, scopes: [text], scope: text },
  };
  const inner = entry["transport"];
  const list = Array.isArray(entry["command"]) ? { command: ["uvx", ...texts] } : {};
  const local =
    typeof inner === "object"
      ? { ...entry, transport: { ...inner, ...fields } }
      : { ...entry, ...fields, ...list };
  const remote = { ...local, url, serverUrl: url, httpUrl: url, uri: url, headers: members };
  return [local, remote, { ...remote, command: undefined, cmd: undefined }];
}

async function escapedTexts({ syntax }: Format, value: unknown): Promise<string[]> {
  const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  if (syntax === "toml") {
    const text = (await notation("toml")).stringify(plain);
    return [text, text.replaceAll("$", String.raw`\u0024`)];
  }
  const text = JSON.stringify(plain);
  const escaped = text.replaceAll("$", String.raw`\u0024`).replaceAll("{cmd", String.raw`\u007bcmd`);
  if (syntax === "jsonc") return [text, escaped];
  return [stringifyYaml(plain), escaped, text.replaceAll("$", String.raw`\x24`)];
}

async function commandsIn(format: Format, text: string): Promise<string[]> {
  const { value, problems } = await parseDocument(text, format.syntax === "jsonc" ? "json" : format.syntax);
  expect(problems).toEqual([]);
  return format.read(value, context()).servers.flatMap(({ config }) => commands(config));
}

/** The commands in any text of an entry that Plugboard expands. */
function commands({ command, args, env, url, headers, cwd, oauth, network }: ServerConfig): string[] {
  return textsIn({ command, args, env, url, headers, cwd, oauth, network })
    .flatMap(referencesIn)
    .filter(({ kind, name }) => kind === "cmd" || referencesIn(name).length > 0)
    .map(({ name }) => name);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
