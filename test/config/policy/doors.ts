import { Workspace } from "../../../src/config.ts";
import { createHub, isPlugboardError, loadConfig } from "../../../src/index.ts";
import type { Hub, LoadedConfig, ServerConfig } from "../../../src/index.ts";
import { createSandbox } from "../../sandbox.ts";
import type { Sandbox } from "../../sandbox.ts";

export type Verdict = "allowed" | "refused";

interface Attempt {
  box: Sandbox;
  name: string;
  entry: ServerConfig;
}

/** Every way in which a server gets into Plugboard, and what the managed policy says to it there. */
const doors: Record<string, (attempt: Attempt) => Promise<Verdict>> = {
  "a user's file": ({ box, ...one }) => {
    box.write("home/.config/plugboard/config.json", file(one));
    return loaded(box, one.name);
  },
  "a project's file": ({ box, ...one }) => {
    box.write("project/.mcp.json", file(one));
    return loaded(box, one.name);
  },
  "a plugin": ({ box, ...one }) => {
    box.write("home/.config/plugboard/config.json", { plugins: ["./plugin"] });
    box.write("home/.config/plugboard/plugin/.mcp.json", file(one));
    return loaded(box, one.name);
  },
  "a variable": ({ box, ...one }) => {
    box.env["PLUGBOARD_CONFIG_JSON"] = JSON.stringify(file(one));
    return loaded(box, one.name);
  },
  overrides: async ({ box, ...one }) =>
    entryVerdict(await loadConfig({ ...box.options, overrides: file(one) }), one.name),
  "plugboard add": async ({ box, name, entry }) => {
    await using workspace = await Workspace.open(box.options);
    return await tried(() => workspace.add(name, entry, { scope: "user" }));
  },
  "plugboard import": async ({ box, ...one }) => {
    box.write("home/.cursor/mcp.json", file(one));
    await box.cli(["import", "cursor", "--yes"]);
    return (await loadConfig(box.options)).servers.has(one.name) ? "allowed" : "refused";
  },
  "createHub({ servers })": async ({ box, name, entry }) => {
    await using hub = await createHub({ servers: { [name]: entry } }, box.options);
    return hubVerdict(hub, name);
  },
  "hub.add": async ({ box, name, entry }) => {
    await using hub = await createHub({ servers: {} }, box.options);
    return await tried(() => hub.add(name, entry));
  },
  "hub.reload with a new policy": async ({ box, ...one }) => {
    box.write("home/.config/plugboard/config.json", file(one));
    const free = { ...box.options, folders: { ...box.folders, managed: box.path("nowhere") } };
    await using hub = await createHub(await loadConfig(free));
    await hub.reload(await loadConfig(box.options));
    return hubVerdict(hub, one.name);
  },
  "hub.reload of servers in code": async ({ box, name, entry }) => {
    await using hub = await createHub({ servers: {} }, box.options);
    await hub.reload({ servers: { [name]: entry } });
    return hubVerdict(hub, name);
  },
};

/** The verdict at every door but those that do not take such a server at all. */
export async function verdicts(
  policy: object,
  { name = "it", entry, files = {}, path, without = [] }: Server,
): Promise<Record<string, Verdict>> {
  const all: Record<string, Verdict> = {};
  for (const [door, attempt] of Object.entries(doors)) {
    if (without.includes(door)) continue;
    const box = createSandbox({ "managed/managed.json": policy, ...files });
    if (path) box.env["PATH"] = path(box);
    all[door] = await attempt({ box, name, entry: typeof entry === "function" ? entry(box) : entry });
  }
  return all;
}

export interface Server {
  name?: string;
  entry: ServerConfig | ((box: Sandbox) => ServerConfig);
  files?: Record<string, string | object>;
  /** Plugboard's own PATH. */
  path?: (box: Sandbox) => string;
  without?: string[];
}

function file({ name, entry }: Omit<Attempt, "box">): { mcpServers: Record<string, ServerConfig> } {
  return { mcpServers: { [name]: entry } };
}

async function loaded(box: Sandbox, name: string): Promise<Verdict> {
  return entryVerdict(await loadConfig(box.options), name);
}

function entryVerdict({ servers }: LoadedConfig, name: string): Verdict {
  const entry = servers.get(name);
  if (!entry?.config) throw new Error(`The entry has mistakes: ${JSON.stringify(entry?.diagnostics)}`);
  return entry.status.kind === "disabled" && entry.status.reason === "policy" ? "refused" : "allowed";
}

function hubVerdict(hub: Hub, name: string): Verdict {
  return hub.status().find((one) => one.name === name)?.disabledReason === "policy" ? "refused" : "allowed";
}

async function tried(work: () => Promise<unknown>): Promise<Verdict> {
  try {
    await work();
    return "allowed";
  } catch (error) {
    if (isPlugboardError(error, "policy-denied")) return "refused";
    throw error;
  }
}
