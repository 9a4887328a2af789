import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ServerEntry } from "../../config/model.ts";
import type { Hub } from "../../hub/hub.ts";
import { isRecord } from "../../lib/record.ts";
import { followLog } from "./follow.ts";
import { readLog } from "./log-file.ts";
import { LogRecorder } from "./recorder.ts";
import type { LogLine } from "./recorder.ts";

/** Logs that nobody has added to for this long are of servers that are gone. */
const maxAgeMs = 30 * 86_400_000;

type Logged = Pick<ServerEntry, "name" | "origin" | "baseDir">;

/** What servers said in the last runs, at most one megabyte of each, in files that only this user can read. */
export class ServerLogs {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The file of a server. An entry that is changed keeps it; one of the same name in another file has its own. */
  path({ name, origin, baseDir }: Logged): string {
    const { createHash } = process.getBuiltinModule("node:crypto");
    const place = JSON.stringify([name, origin.file ?? baseDir]);
    const mark = createHash("sha256").update(place).digest("hex").slice(0, 12);
    return join(this.folder, `${name.replaceAll(/[^\w-]/g, "_").slice(0, 40)}-${mark}.jsonl`);
  }

  /**
   * Records what the servers of a hub say until it is closed; dispose of it afterwards. Servers that were written in code
   * or on the command line have no log.
   */
  record(hub: Hub): Disposable {
    const recorder = new LogRecorder((server) => {
      const entry = hub.config.servers.get(server);
      return entry && entry.origin.scope !== "override" ? this.path(entry) : undefined;
    });
    this.#removeOld();
    hub.on("server-log", (event) => recorder.hear(event));
    hub.on("connection-changed", (event) => recorder.hear(event));
    return { [Symbol.dispose]: () => recorder.close() };
  }

  /** The last lines, the oldest first. */
  read(entry: Logged, most: number): LogLine[] {
    return linesIn(readLog(this.path(entry))).slice(-most);
  }

  /** Calls `onLine` with every line from now on, until the signal is aborted. */
  follow(entry: Logged, onLine: (line: LogLine) => void, signal: AbortSignal): Promise<void> {
    let rest = "";
    const onText = (text: string) => {
      const whole = rest + text;
      const end = whole.lastIndexOf("\n") + 1;
      rest = whole.slice(end);
      for (const line of linesIn(whole.slice(0, end))) onLine(line);
    };
    return followLog(this.path(entry), onText, signal);
  }

  #removeOld(): void {
    try {
      for (const name of readdirSync(this.folder)) {
        const path = join(this.folder, name);
        if (Date.now() - statSync(path).mtimeMs > maxAgeMs) rmSync(path, { force: true });
      }
    } catch {
      // There is no folder yet, or another process removed the file.
    }
  }
}

function linesIn(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isLogLine(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

function isLogLine(value: unknown): value is LogLine {
  return isRecord(value) && typeof value["at"] === "number" && typeof value["message"] === "string";
}
