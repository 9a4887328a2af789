import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Environment } from "../../lib/folders.ts";
import { assertHeld } from "../../lib/held.ts";
import type { Held } from "../../lib/held.ts";
import { waitAtMost } from "../wait-at-most.ts";
import { readFrames, sendJson } from "./frames.ts";
import { parseMessage, readProcesses } from "./messages.ts";
import type { CommandMessage, WarmProcess } from "./messages.ts";
import { allSockets, pidPath, socketPath, socketProblem } from "./place.ts";

/** Where the broker is, and how it is started. */
export interface BrokerPlace {
  folder: string;
  /** The file with the broker's program. */
  program: string;
  env: Environment;
  /** Keeps out all other commands of this user that start a broker. */
  lock<T>(key: string, work: (held: Held) => Promise<T>): Promise<T>;
}

/** Connects to the broker, which is started if there is none. Rejects if that is not possible. */
export async function reachBroker(place: BrokerPlace): Promise<Socket> {
  const path = socketPath(place.folder);
  const socket = await connectTo(path);
  if (typeof socket !== "string") return socket;
  return place.lock("warm-broker", async (held) => {
    const again = await connectTo(path);
    if (typeof again !== "string") return again;
    // Only whoever keeps all others out may remove a socket: it could be a new broker's by now.
    if (again === "stale") {
      await assertHeld(held);
      await removeSocket(path);
    }
    await drainOthers(place.folder, path);
    await startBroker(place);
    const started = await connectTo(path);
    if (typeof started === "string") throw new Error("The broker ended at once.");
    return started;
  });
}

/** A connection; "none" if there is no socket, "stale" if nobody listens there. */
export function connectTo(path: string): Promise<Socket | "none" | "stale"> {
  const problem = socketProblem(path);
  if (problem !== undefined) return Promise.reject(new Error(problem));
  const { promise, resolve, reject } = Promise.withResolvers<Socket | "none" | "stale">();
  const socket = connect({ path });
  socket.once("connect", () => resolve(socket));
  socket.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") resolve("none");
    else if (error.code === "ECONNREFUSED") resolve("stale");
    else reject(error);
  });
  return promise;
}

/** What all brokers said. */
export interface BrokerAnswers {
  processes: WarmProcess[];
  /** A sentence for each broker that is there and said nothing, so that nobody knows what it holds. */
  unanswered: string[];
}

/** Asks all brokers, of other versions too, one question each. */
export async function askBrokers(folder: string, message: CommandMessage): Promise<BrokerAnswers> {
  const asked = (await allSockets(folder)).map(async (path): Promise<BrokerAnswers> => {
    try {
      return { processes: await askBroker(path, message), unanswered: [] };
    } catch (error) {
      return { processes: [], unanswered: [(error as Error).message] };
    }
  });
  const answers = await Promise.all(asked);
  return {
    processes: answers.flatMap(({ processes }) => processes),
    unanswered: answers.flatMap(({ unanswered }) => unanswered),
  };
}

/** Returns nothing if nobody listens there, and rejects if somebody does who does not answer. */
async function askBroker(path: string, message: CommandMessage): Promise<WarmProcess[]> {
  const socket = await connectTo(path).catch(async (error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === "EAGAIN" ? await silence(path) : error;
  });
  if (typeof socket === "string") return [];
  let answer: WarmProcess[] | undefined;
  const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  readFrames(socket, (_, bytes) => {
    const said = parseMessage(bytes);
    if (said?.["type"] === "processes") answer = readProcesses(said);
    hear();
  });
  let isHeard = false;
  sendJson(socket, message);
  await waitAtMost(Promise.race([heard.then(() => (isHeard = true)), closed]), heardMs);
  if (isHeard) await waitAtMost(closed, answerMs);
  socket.destroy();
  if (!answer) throw await silence(path);
  return answer;
}

async function silence(path: string): Promise<Error> {
  const pid = Number.parseInt(await readFile(pidPath(path), "utf8").catch(() => ""), 10);
  const who = pid > 1 ? ` (pid ${pid})` : "";
  return new Error(`The broker${who} does not answer; its servers may still run.`);
}

const heardMs = 2_000;
/** Longer than ending a stubborn server takes. */
const answerMs = 20_000;

/** Brokers of other versions take no more uses from now on. What they hold ends without our waiting for it. */
async function drainOthers(folder: string, own: string): Promise<void> {
  const others = (await allSockets(folder)).filter((path) => path !== own);
  const drained = others.map(async (path) => {
    const socket = await connectTo(path).catch(() => "none" as const);
    if (socket === "stale") await removeSocket(path);
    if (typeof socket === "string") return;
    socket.on("error", () => undefined);
    sendJson(socket, { type: "drain" });
    socket.end();
  });
  await Promise.all(drained);
}

async function removeSocket(path: string): Promise<void> {
  await Promise.all([path, pidPath(path)].map((one) => rm(one, { force: true })));
}

/** Starts the broker apart from this command, and resolves when it listens. */
async function startBroker({ folder, program, env }: BrokerPlace): Promise<void> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", HOME } = env;
  const child = spawn(process.execPath, [program, folder], {
    detached: true,
    cwd: "/",
    // Nothing of ours: what servers get comes from the commands that want them.
    env: { PATH, ...(HOME !== undefined && { HOME }) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const answered = Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  await waitAtMost(answered, startMs);
  child.stdout.destroy();
  child.unref();
  const word = said.trim();
  if (word !== "ready" && word !== "taken") throw new Error(word || "The broker did not start.");
}

const startMs = 10_000;
