/**
 * A gateway that tells what it holds, and kills its own servers when it is told to. Started with `fork`: the servers as
 * JSON, then `Ask`s, each answered with its id. Sessions that nobody ends expire soon.
 */
import { createGateway } from "../../../src/gateway/index.ts";
import { createHub } from "../../../src/index.ts";
import { sample } from "../../samples.ts";

export type Ask = { id: number } & ({ kill: string } | { sample: string } | { close: true });

const [token = "", servers = "{}"] = process.argv.slice(2);
const hub = await createHub(
  { servers: JSON.parse(servers) as Record<string, { command: string }> },
  { keepFresh: true },
);
const limits = { sessionIdleMs: 2_000, keepAliveMs: 1_000, replayMs: 2_000 };
const gateway = createGateway(hub, { token, limits });
const { url } = await gateway.listen();

process.on("disconnect", () => process.exit());
process.on("message", (ask: Ask) => {
  void obey(ask).then((result) => process.send?.({ id: ask.id, result }));
});
process.send?.({ url });

async function obey(ask: Ask): Promise<unknown> {
  if ("sample" in ask) return sample(ask.sample);
  if ("kill" in ask) {
    const pid = hub.status().find(({ name }) => name === ask.kill)?.pid;
    return pid !== undefined && kill(pid);
  }
  await gateway.close({ drainMs: 1_000 });
  await hub.close();
  return sample("closed");
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    // It was gone already.
    return false;
  }
}
