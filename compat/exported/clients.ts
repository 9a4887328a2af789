import { stripVTControlCharacters } from "node:util";
import { claudeCode } from "../clients/claude-code.ts";
import type { CompatClient } from "../clients/client.ts";
import { codex, codexModel, codexSettings } from "../clients/codex.ts";
import { gemini } from "../clients/gemini.ts";
import { opencode } from "../clients/opencode.ts";
import type { Scene } from "../scene.ts";

/** How to start a server. */
export interface Program {
  command: string;
  args: readonly string[];
}

/** A client whose file is exported to, and then loaded by the client itself. */
export interface ExportedClient {
  client: CompatClient;
  /** Relative to the home folder. */
  file: string;
  /** The file before the export: comments, settings, a server `own`, and an outdated entry `fixed`. */
  before(own: Program): string;
  /** Passes variables on only under their own names. */
  keepsVariableNames?: boolean;
  /** Lets the client load its file and connect. True for each server that it shows as it should. */
  load(scene: Scene, modelUrl: string): Promise<(server: string) => boolean>;
}

const json = (value: unknown) => JSON.stringify(value);

/** Lets the clients start without an account and without asking for updates. */
const offline = {
  ANTHROPIC_API_KEY: "sk-ant-not-a-key",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  GEMINI_API_KEY: "not-a-key",
  GEMINI_CLI_TRUST_WORKSPACE: "true",
  MODEL_KEY: "not-a-key",
};

export const exportedClients: readonly ExportedClient[] = [
  {
    client: claudeCode,
    file: ".claude.json",
    // Claude Code accepts no comments here.
    before: ({ command, args }) => `{
    "autoUpdates": false,
    "editorMode": "vim",
    "mcpServers": {
        "own": { "type": "stdio", "command": ${json(command)}, "args": ${json(args)} },
        "fixed": { "type": "stdio", "command": "outdated", "env": { "WITNESS": "outdated" } }
    },
    "theme": "light"
}
`,
    async load(scene) {
      const list = await scene.run(["claude", "mcp", "list"], offline);
      const one = await scene.run(["claude", "mcp", "get", "remote"], offline);
      return (server) =>
        new RegExp(`^${server}: .*✔ Connected$`, "m").test(list.out) &&
        (server !== "remote" || /Connected/.test(one.out));
    },
  },
  {
    client: codex,
    file: ".codex/config.toml",
    keepsVariableNames: true,
    before: ({ command, args }) => `# how Codex looks
file_opener = "none" # opens nothing

[tui]
notifications = false   # too loud

# mine, and only mine
[mcp_servers.own]
command = ${json(command)} # by hand
args = ${json(args)}

# written by an earlier export
[mcp_servers.fixed]
startup_timeout_sec = 45 # a slow machine
command = "outdated" # what it was

[mcp_servers.fixed.env]
# one value
WITNESS = "outdated"# no space

[history]
persistence = "none" # the last line
`,
    async load(scene, modelUrl) {
      const list = await scene.run(["codex", "mcp", "list", "--json"], offline);
      const listed = JSON.parse(list.out) as { name: string; enabled: boolean }[];
      // The listing does not connect; a run does, and fails if a required server cannot be reached.
      const settings = codexSettings({
        ...codexModel(modelUrl),
        ...Object.fromEntries(listed.map(({ name }) => [`mcp_servers.${name}.required`, true])),
      });
      const run = await scene.run(["codex", "exec", "--skip-git-repo-check", ...settings, "hello"], offline);
      return (server) => run.code === 0 && listed.some(({ name, enabled }) => name === server && enabled);
    },
  },
  {
    client: opencode,
    file: ".config/opencode/opencode.json",
    before: ({ command, args }) => `{
  // nobody shares what happens here
  "share": "disabled",
  "autoupdate": false, /* offline */
  "mcp": {
    // mine, and only mine
    "own": { "type": "local", "command": ${json([command, ...args])} },
    "fixed": {
      "type": "local",
      "command": ["outdated"], // by an earlier export
      // a slow machine
      "timeout": 45000,
      "environment": { "WITNESS": "outdated" /* one value */ },
    },
  },
  "username": "ada", // the last line
}
`,
    async load(scene) {
      const list = await scene.run(["opencode", "mcp", "list"], offline);
      return (server) =>
        new RegExp(`✓ ${server} connected$`, "m").test(stripVTControlCharacters(list.out + list.err));
    },
  },
  {
    client: gemini,
    file: ".gemini/settings.json",
    before: ({ command, args }) => `{
  // how it looks
  "ui": { "hideTips": true },
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false }, /* nothing leaves */
  "mcpServers": {
    // mine, and only mine
    "own": { "command": ${json(command)}, "args": ${json(args)} },
    "fixed": {
      "command": "outdated", // by an earlier export
      // a slow machine
      "timeout": 45000,
      "env": { "WITNESS": "outdated" /* one value */ }
    }
  },
  "general": { "disableAutoUpdate": true } // the last line
}
`,
    async load(scene) {
      const list = await scene.run(["gemini", "mcp", "list"], offline);
      return (server) => new RegExp(`^✓ ${server}: .*Connected$`, "m").test(list.out + list.err);
    },
  },
];
