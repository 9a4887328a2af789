import { createHub, Workspace } from "../../../src/index.ts";

/** Connects with the login of HOME, then calls a tool whenever it is told to, and tells what came of it. */
const [home = ""] = process.argv.slice(2);
const workspace = await Workspace.open({ cwd: home, env: { HOME: home } });
const config = await workspace.load();
let aheadMs = 0;
const hub = await createHub(config, {
  ...(await workspace.hubOptions(config)),
  clock: () => Date.now() + aheadMs,
});
await hub.callTool("mcp__issues__add", { a: 1, b: 2 });
process.on("message", (word) => void (word === "end" ? end() : call()));
process.send?.("ready");

async function call(): Promise<void> {
  // Rounds follow each other faster than tokens expire in life.
  aheadMs += 10_000;
  try {
    const { structuredContent } = await hub.callTool("mcp__issues__add", { a: 1, b: 2 });
    process.send?.(structuredContent);
  } catch (error) {
    process.send?.({ error: String(error) });
  }
}

async function end(): Promise<void> {
  await hub.close();
  await workspace.close();
  process.disconnect();
}
