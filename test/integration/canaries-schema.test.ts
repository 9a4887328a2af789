import { describe, expect, it } from "vitest";
import { explainServer, Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import { verbs } from "../../src/cli/verbs.ts";
import { firstOf, isLong } from "../rounds.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { entriesWith, filePlaces, plantToken, shapes } from "./canary-fields.ts";
import { attempt, Canaries } from "./canary-scene.ts";

/** Fields that are shown as they are written: names of tools, servers, accounts, clients and scopes, and patterns in rules. */
const shown = [
  /^(alwaysLoad\[\]|description) /,
  /^approval\.rules\[\]\.(tools|tools\[\]|when\.\*|when\.\*\[\]) /,
  /^oauth\.(clientId|profile|scopes|scopes\[\]|identityProvider\.clientId) /,
  /^tools\.(allow\[\]|deny\[\]|rename\.\*|annotations\.\*\.\*|describe\.\*|hideArguments\.\*\[\]) /,
  /^bundles\.\*\.(servers\[\]|serverId|description|tools\.(allow|deny)\[\]) /,
  /^(profiles\.\*|toolSearch) /,
];

/** Verbs that are not run here, and why. */
const others = {
  trust: "it shows what a file says, because a person decides on exactly that",
  export: "it writes the configuration for another client",
  completion: "it shows only names",
  result: "it shows what a server returned",
};

const file = "home/.config/plugboard/config.json";
const overviews = [
  "list",
  "list --json",
  "config show",
  "config show --json",
  "config validate",
  "doctor --json",
];
const connecting = ["status", "status --json", "doctor --connect", "tools --json"];

describe("no verb, event or error shows a field that may be a secret", () => {
  it("whichever verb is used", async () => {
    const canaries = new Canaries();
    const entries = entriesWith(canaries, (canary) => canary);
    const box = createSandbox({ [file]: { mcpServers: entries } });
    const names = Object.keys(entries);
    const some = names.filter((_, index) => index % 15 === 0);
    const each = [
      "resources <>",
      "prompts <>",
      "call <>.x",
      "check <>.x --wait 1",
      "read <> x://y",
      "prompt <>.x",
      "request <> ping",
      "logs <>",
      "stop <>",
      "lock <> --yes",
      "verify <> --json",
      "login <>",
      "logout <>",
      "client add codex --server <> --dry-run",
    ];
    const lines = [
      ...overviews,
      ...connecting,
      // Every field is in a program and in a remote server: each verb sees all fields.
      ...names.flatMap((name) =>
        (isLong ? ["get", "explain"] : [verbFor(name)]).map((verb) => `${verb} ${name}`),
      ),
      ...some.flatMap((name) => each.map((line) => line.replace("<>", name))),
      ...some.flatMap((name) => [`disable ${name}`, `enable ${name} --json`, `remove ${name}`]),
      "secret list",
      "approvals list",
      "search anything",
      "chat --print hello",
    ];
    for (const line of lines) await see(box, canaries, line);
    await seeServing(
      box,
      canaries,
      names.filter((name) => !some.includes(name)),
    );
    await writeServers(box, canaries);
    const used = [...lines, "serve", "add", "add-json", "import", "sync"].map(
      (line) => line.split(" ")[0] ?? "",
    );
    const known = new Set([...used, ...Object.keys(others)]);
    expect([...known].sort()).toEqual(verbs.map(({ name }) => name).sort());
    expect(leaks(canaries)).toEqual([]);
    // What may be shown is found, so that what may not would be as well.
    expect(canaries.report().found).toContain("oauth.clientId of a remote in list --json (plain)");
  });

  it.each(firstOf(1, Object.entries(shapes)))("in an entry, where it is %s", async (_, shape) => {
    const canaries = new Canaries();
    const entries = entriesWith(canaries, shape);
    const box = createSandbox({ [file]: { mcpServers: entries } });
    for (const line of [...overviews, ...connecting]) await see(box, canaries, line);
    await useLibrary(box, canaries, Object.keys(entries));
    expect(leaks(canaries)).toEqual([]);
  });

  it.each(firstOf(2, Object.entries(shapes)))("in settings and bundles, where it is %s", async (_, shape) => {
    const canaries = new Canaries();
    for (const { path, wrap } of filePlaces) {
      const content = wrap(shape(plantToken(canaries, `${path} of a file`))) as object;
      const box = createSandbox({ [file]: content, "project/plugboard.json": content });
      for (const line of ["config show", "config path --json", "doctor --json"])
        await see(box, canaries, line);
    }
    expect(leaks(canaries)).toEqual([]);
  });
});

it("no message about a managed policy shows a secret in one of its rules", async () => {
  const canaries = new Canaries();
  const args = ["--token", plantToken(canaries, "a rule"), plantToken(canaries, "a rule")];
  const url = `http://127.0.0.1:9/?key=${plantToken(canaries, "a rule")}`;
  const box = createSandbox({
    [file]: { mcpServers: { program: { command: "x", args }, remote: { url } } },
    "managed/managed.json": {
      deniedMcpServers: [{ serverCommand: ["x", ...args] }, { serverUrl: url }, { serverUrl: `x ${url}` }],
    },
  });
  for (const line of ["list --json", "explain program", "explain remote", "call program.x", "call remote.x"])
    await see(box, canaries, line);
  for (const line of ["doctor", "config validate", "status --json", "config path"])
    await see(box, canaries, line);
  expect(canaries.report().found).toEqual([]);
});

const verbFor = (name: string) => (name.startsWith("program") ? "get" : "explain");

function leaks(canaries: Canaries): string[] {
  expect(canaries.planted).toBeGreaterThan(50);
  return canaries.report().found.filter((one) => !shown.some((pattern) => pattern.test(one)));
}

async function see(box: Sandbox, canaries: Canaries, line: string, more: string[] = []): Promise<void> {
  const { out, err } = await box.cli([...line.split(" "), ...more]);
  canaries.see(line, out + err);
}

/** Serves until something has been said about every server, or for long enough. */
async function seeServing(box: Sandbox, canaries: Canaries, names: readonly string[]): Promise<void> {
  for (const line of ["serve --port 0", "serve --port 0 --json"]) {
    const interrupt = new AbortController();
    const timer = setTimeout(() => interrupt.abort(), 20_000);
    const said = { out: "", err: "" };
    const look = (stream: keyof typeof said) => (text: string) => {
      said[stream] = text;
      const all = said.out + said.err;
      if (said.out !== "" && names.every((name) => all.includes(name))) interrupt.abort();
    };
    const { out, err } = await box.cli(line.split(" "), {
      signal: interrupt.signal,
      onOut: look("out"),
      onErr: look("err"),
    });
    clearTimeout(timer);
    canaries.see(line, out + err);
  }
}

/** Verbs that write entries show them too, and refuse wrong ones. */
async function writeServers(box: Sandbox, canaries: Canaries): Promise<void> {
  const secret = () => plantToken(canaries, "a value of a new server");
  const program = ["--", "x", "--token", secret(), secret(), `NAME=${secret()}`];
  await see(box, canaries, "add new1 -e", [`KEY=${secret()}`, ...program]);
  const remote = [`Authorization: Bearer ${secret()}`, "new2", `http://h.example/${secret()}?k=${secret()}`];
  await see(box, canaries, "add --json -H", remote);
  await see(box, canaries, "add new3", [`http://ada:${secret()}@h.example/`]);
  await see(box, canaries, "add-json new4", [JSON.stringify({ command: "x", env: { A: secret() } })]);
  await see(box, canaries, "add-json new5", [JSON.stringify({ command: `x ${secret()}`, oauth: secret() })]);
  const other = { command: "x", args: ["--key", secret()], env: { A: secret() }, wrong: secret() };
  box.write("home/.cursor/mcp.json", { mcpServers: { other, more: { url: `http://h/?key=${secret()}` } } });
  for (const line of ["import cursor --dry-run", "import cursor --dry-run --json", "sync", "sync --json"])
    await see(box, canaries, line);
}

/** What programs that use the library may print or send on. */
async function useLibrary(box: Sandbox, canaries: Canaries, names: string[]): Promise<void> {
  await using workspace = await Workspace.open(box.options);
  const config = await workspace.load();
  await using hub = await createHub(config, { ...(await workspace.hubOptions(config)), start: false });
  void (async () => {
    for await (const event of hub.events()) canaries.see(`event ${event.type}`, JSON.stringify(event));
  })();
  for (const name of names) canaries.see("explainServer", JSON.stringify(explainServer(config, name)) ?? "");
  await Promise.all(names.map((name) => attempt(canaries, "connect", () => hub.connect(name))));
  canaries.see("status()", JSON.stringify(hub.status()));
  canaries.see("diagnostics", JSON.stringify(config.diagnostics));
}
