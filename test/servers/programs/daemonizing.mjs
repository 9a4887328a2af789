// Stubborn, and starts a stubborn child in a session of its own, out of reach of its process group.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { serve } from "./rpc.mjs";

const child = spawn(process.execPath, [fileURLToPath(new URL("left-behind.mjs", import.meta.url))], {
  detached: true,
  stdio: ["ignore", "ignore", "ignore", "ipc"],
});
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => undefined);
setInterval(() => undefined, 1000);
// It serves only when the child is really out there.
child.once("message", () => {
  child.disconnect();
  child.unref();
  serve({ onEnd: () => (process.argv.includes("--polite") ? process.exit(0) : undefined) });
});
