import type { Socket } from "node:net";
import { isPlugboardError } from "../../errors.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import { version } from "../../lib/version.ts";
import { ownerVariable, serverEnvironment } from "../process/environment.ts";
import type { ServerProgram } from "../process/process-tree.ts";
import type { RunningProgram } from "../process/running-program.ts";
import { waitAtMost } from "../wait-at-most.ts";
import type { BrokerPlace } from "./broker-client.ts";
import type { WarmProgram } from "./messages.ts";
import { placeProblem } from "./place.ts";
import { statOf } from "../process/found-program.ts";
import { programFiles } from "./program-files.ts";
import { surroundings } from "./surroundings.ts";

/** What a command wants from the broker. */
export interface WarmRequest {
  program: ServerProgram;
  /** How long it may wait for its next use. */
  keepMs: number;
  /** How long the whole start may take. */
  limitMs: number;
  /** The names of the secrets that its entry refers to. */
  secrets: readonly string[];
  /** Whatever else must be the same for the next use. */
  likeness: Readonly<Record<string, unknown>>;
}

export interface WarmServersOptions extends BrokerPlace {
  /** Variables that every server gets, whatever its configuration says. */
  marks?: Readonly<Record<string, string>> | undefined;
  /** Called once if nothing can be kept, with the reason. */
  onProblem?: ((message: string) => void) | undefined;
}

/** Lets a command use servers that an earlier one left, and leave them for the next. Never a reason to fail. */
export class WarmServers {
  readonly #options: WarmServersOptions;
  #isUnusable = false;

  constructor(options: WarmServersOptions) {
    this.#options = options;
  }

  /** A program that the broker holds; undefined if the command has to start its own. */
  async start({
    program,
    keepMs,
    limitMs,
    secrets,
    likeness,
  }: WarmRequest): Promise<RunningProgram | undefined> {
    const { env, marks, folder } = this.#options;
    // Whatever a server starts ends with it, and so must what a Plugboard among them starts.
    if (this.#isUnusable || env[ownerVariable] !== undefined) return undefined;
    const problem = placeProblem(folder);
    if (problem !== undefined) return this.#giveUp(problem);
    const { server, command, args = [], inheritEnv, sandbox } = program;
    const own = serverEnvironment({ parent: env, env: program.env, inheritEnv, owner: "", marks });
    const { [ownerVariable]: _, ...environment } = own;
    const cwd = program.cwd ?? process.cwd();
    const umask = process.umask();
    const whole: WarmProgram = { server, command, args, cwd, umask, env: environment, sandbox };
    const files = programFiles({ command, args, cwd, env: environment });
    // A folder that was deleted and created again is another one.
    const { dev, ino } = statOf(cwd) ?? {};
    const around = surroundings();
    const same = { whole, files, folder: { dev, ino }, surroundings: around, secrets, likeness, version };
    const key = sha256(canonicalJson(same));
    try {
      const [{ reachBroker }, { attach }] = await Promise.all([
        import("./broker-client.ts"),
        import("./attached-process.ts"),
      ]);
      // The server itself must have most of the time if the broker hangs.
      const shareMs = limitMs / 4;
      const socket = await inTime(reachBroker(this.#options), Math.min(reachMs, shareMs));
      const request = { type: "attach", key, program: whole, keepMs, surroundings: around, secrets } as const;
      return await attach(socket, request, shareMs);
    } catch (error) {
      // That a program cannot be started is the same without the broker, and its reason is the one to show.
      if (isPlugboardError(error, "spawn-failed")) throw error;
      return this.#giveUp(error instanceof Error ? error.message : String(error));
    }
  }

  #giveUp(reason: string): undefined {
    this.#isUnusable = true;
    this.#options.onProblem?.(`Servers are not kept warm: ${reason.replace(/\.$/, "")}.`);
  }
}

/** Starting the broker and waiting for others that start it must not use up the time that the server has. */
const reachMs = 12_000;

async function inTime(reaching: Promise<Socket>, ms: number): Promise<Socket> {
  let socket: Socket | undefined;
  await waitAtMost(
    reaching.then((reached) => (socket = reached)),
    ms,
  );
  if (socket) return socket;
  void reaching.then(
    (late) => late.destroy(),
    () => undefined,
  );
  throw new Error("the broker could not be reached in time");
}
