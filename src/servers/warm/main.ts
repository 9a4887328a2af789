import { chmodSync, existsSync, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { ProcessTree } from "../process/process-tree.ts";
import { Broker } from "./broker.ts";
import { pidPath, placeProblem, socketPath } from "./place.ts";

/**
 * The program of the broker. Its argument is the folder of its socket; what it starts comes through the socket. Says on
 * stdout how its own start went, and nothing else ever.
 */
process.title = "plugboard-broker";
const [folder = ""] = process.argv.slice(2);
// For its own files. Servers get the umask of the command that wants them.
process.umask(0o077);
process.stdout.on("error", () => undefined);

const problem = folder === "" ? "no folder was named" : placeProblem(folder);
if (problem !== undefined) process.stdout.write(`${problem}\n`);
else await serve(socketPath(folder));

async function serve(path: string): Promise<void> {
  const processes = new ProcessTree({ env: process.env, stateFolder: dirname(folder) });
  let inode: number | undefined;
  const inodeNow = () => lstatSync(path, { throwIfNoEntry: false })?.ino;
  // Commands see a closed socket; one that still connects finds nobody and starts another broker.
  const withdraw = () => {
    // By now it may be the socket of a newer broker. Ours is open until here, so nobody else has its inode.
    if (inode !== undefined && inode === inodeNow())
      for (const own of [path, pidPath(path)]) rmSync(own, { force: true });
    inode = undefined;
    server.close();
  };
  const leave = () => {
    withdraw();
    void broker.close().then(() => process.exit());
  };
  const fail = (reason: string) => {
    process.stdout.write(`${reason}\n`);
    process.exitCode = 1;
    leave();
  };
  const broker = new Broker({ processes, onIdle: leave, onDrain: withdraw });
  const server = createServer({ allowHalfOpen: true }, (socket) => broker.serve(socket));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, leave);
  server.on("error", (error) => fail(error.message));
  // Node removes the path that it was given when the server closes, whoever is there by then.
  const bound = join(folder, randomBytes(4).toString("hex"));
  server.listen(bound, () => {
    // Whoever starts a broker has the lock, so no other one comes in between.
    if (existsSync(path)) return fail("taken");
    chmodSync(bound, 0o600);
    writeFileSync(pidPath(path), `${process.pid}\n`);
    renameSync(bound, path);
    inode = inodeNow();
    process.stdout.write("ready\n");
  });
}
