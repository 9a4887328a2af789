import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

/** A resource whose address a shell would run if nobody quoted it. */
export const oddUri = "note://a b&c;$(touch pwned)'\"`!x";

const tool = {
  name: "find",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      mode: { enum: ["fast", "very slow", "it's $HOME"] },
      level: { enum: [1, 20, null] },
      deep: { type: "boolean" },
      maxResults: { type: "integer" },
      tags: { type: "array", items: { enum: ["red", "green", "gray"] } },
      filter: { type: "object", properties: { since: { type: "string" }, open: { type: "boolean" } } },
      timeout: { type: "integer" },
      "a\u001b]0;owned\u0007": { type: "string" },
      constructor: { enum: ["plain"] },
    },
  },
};

/** A server whose lists were read before, and which records every later start. */
export async function completionScene(): Promise<Sandbox & { log: string }> {
  const box = createSandbox();
  const log = box.path("server.log");
  const script = {
    tools: [tool],
    prompts: [{ name: "report", arguments: [{ name: "since", required: true }, { name: "style" }] }],
    resources: [
      { uri: "note://today", name: "today" },
      { uri: oddUri, name: "odd" },
      { uri: "note://\u202eevil", name: "evil" },
    ],
    resourceTemplates: [{ uriTemplate: "log://days/on-{day}", name: "day" }],
    log,
  };
  box.write("home/.config/plugboard/config.json", {
    mcpServers: {
      files: fakeStdio(script),
      web: { url: "http://127.0.0.1:9/mcp", oauth: { profile: "work" } },
      other: { url: "http://127.0.0.1:9/other" },
    },
    profiles: { other: "home" },
    bundles: { reading: { servers: ["files"] } },
  });
  for (const verb of ["tools", "prompts", "resources"]) await box.cli([verb, "files"]);
  return Object.assign(box, { log });
}
