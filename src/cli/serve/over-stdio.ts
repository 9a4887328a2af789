import type { Readable, Writable } from "node:stream";
import type { Workspace } from "../../config.ts";
import { createGateway } from "../../gateway/index.ts";
import { whenAborted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ServedHub } from "./served-hub.ts";
import type { ServeSettings } from "./settings.ts";

/** Serves the client that started us, until it closes our input or a signal arrives. */
export async function serveOverStdio(
  served: ServedHub,
  { bundle, isQueued }: Pick<ServeSettings, "bundle" | "isQueued">,
  workspace: Workspace,
  terminal: Terminal,
): Promise<void> {
  using caught = terminal.catchSignals();
  const { input, output } = terminal.takePipes();
  const gateway = createGateway(served.hub, {
    bundle,
    telemetry: served.telemetry,
    ...(isQueued && { sealKey: await workspace.sealKey() }),
  });
  const stopped = whenAborted(caught.signal);
  try {
    await served.prepare();
    const failed = served.start({ isAnnounced: false }).then(() => new Promise<never>(() => undefined));
    const ended = gateway.serveStdio({ input, output });
    using _watch = endWithParent(input, output);
    await Promise.race([ended, stopped, failed]);
  } finally {
    await gateway.close();
  }
}

const parentIntervalMs = 200;

/**
 * After the end of the input, requests that were read before are still answered. If the client was killed, nobody reads
 * that; a pipe tells so only when we write into it, but we get another parent at once.
 */
function endWithParent(input: Readable, output: Writable): Disposable {
  const { ppid } = process;
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    timer = setInterval(() => {
      if (process.ppid !== ppid) output.destroy();
    }, parentIntervalMs).unref();
  };
  input.once("end", watch);
  return {
    [Symbol.dispose]: () => {
      input.off("end", watch);
      clearInterval(timer);
    },
  };
}
