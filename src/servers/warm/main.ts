import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { ProcessTree } from "../process/process-tree.ts";
import { Broker } from "./broker.ts";
import { placeProblem, socketPath } from "./place.ts";

/**
 * The program of the broker. Its argument is the folder of its socket; what it starts comes through the socket. Says on
 * stdout how its own start went, and nothing else ever.
 */
process.title = "plugboard-broker";
const [folder = ""] = process.argv.slice(2);
process.umask(0o077);
process.stdout.on("error", () => undefined);

const problem = folder === "" ? "no folder was named" : placeProblem(folder);
if (problem !== undefined) process.stdout.write(`${problem}\n`);
else await serve(socketPath(folder));

async function serve(path: string): Promise<void> {
  const processes = new ProcessTree({ env: process.env, stateFolder: dirname(folder) });
  // Commands see a closed socket; one that still connects finds nobody and starts another broker.
  const leave = () => {
    server.close();
    void broker.close().then(() => process.exit());
  };
  const broker = new Broker({ processes, onIdle: leave, onDrain: () => void server.close() });
  const server = createServer({ allowHalfOpen: true }, (socket) => broker.serve(socket));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, leave);
  server.on("error", (error: NodeJS.ErrnoException) => {
    process.stdout.write(`${error.code === "EADDRINUSE" ? "taken" : error.message}\n`);
    process.exitCode = 1;
    leave();
  });
  server.listen(path, () => {
    chmodSync(path, 0o600);
    process.stdout.write("ready\n");
  });
}
