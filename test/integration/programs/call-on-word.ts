import { flushCompileCache } from "node:module";
import { Workspace } from "../../../src/config.ts";
import { createHub, isPlugboardError } from "../../../src/index.ts";

/** Connects with the login of HOME, then calls a tool whenever it is told that time has passed, and tells what came of it. */
const [home = "", who = "0"] = process.argv.slice(2);
const workspace = await Workspace.open({ cwd: home, env: { HOME: home } });
const config = await workspace.load();
let aheadMs = 0;
const hub = await createHub(config, {
  ...(await workspace.hubOptions(config)),
  clock: () => Date.now() + aheadMs,
});
const add = () => hub.callTool("mcp__issues__add", { a: Number(who), b: 1 });
await add();
flushCompileCache();
process.on("message", (passedMs) => void (passedMs === "end" ? end() : call(Number(passedMs))));
process.send?.("ready");

async function call(passedMs: number): Promise<void> {
  aheadMs += passedMs;
  process.send?.("calling");
  try {
    process.send?.((await add()).structuredContent);
  } catch (error) {
    process.send?.({ error: isPlugboardError(error) ? error.code : String(error) });
  }
}

async function end(): Promise<void> {
  await hub.close();
  await workspace.close();
  process.disconnect();
}
