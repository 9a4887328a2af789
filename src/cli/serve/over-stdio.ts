import { createGateway } from "../../gateway/index.ts";
import { whenAborted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ServedHub } from "./served-hub.ts";

/** Serves the client that started us, until it closes our input or a signal arrives. */
export async function serveOverStdio(
  served: ServedHub,
  bundle: string | undefined,
  terminal: Terminal,
): Promise<void> {
  using caught = terminal.catchSignals();
  const { input, output } = terminal.takePipes();
  const gateway = createGateway(served.hub, { bundle });
  const stopped = whenAborted(caught.signal);
  try {
    await served.prepare();
    const failed = served.start({ isAnnounced: false }).then(() => new Promise<never>(() => undefined));
    const ended = gateway.serveStdio({ input, output });
    await Promise.race([ended, stopped, failed]);
  } finally {
    await gateway.close();
  }
}
