import { text } from "node:stream/consumers";
import { Workspace } from "../../../src/config.ts";
import { createHub } from "../../../src/index.ts";

/** Logs in and calls a tool; calls it again when standard input ends. Prints the sums, and last of all the warnings. */
const [path = ""] = process.argv.slice(2);
const warnings: string[] = [];
await using workspace = await Workspace.open({ path, onWarning: (message) => warnings.push(message) });
const config = await workspace.load();
await using hub = await createHub(config, await workspace.hubOptions(config));
await hub.login("issues", { openUrl: (url) => void fetch(url).then((response) => response.text()) });
await call();
await text(process.stdin);
await call();
process.stdout.write(`${warnings.join("\n")}\n`);

async function call(): Promise<void> {
  const { structuredContent } = await hub.callTool("mcp__issues__add", { a: 1, b: 2 });
  process.stdout.write(`${JSON.stringify(structuredContent)}\n`);
}
