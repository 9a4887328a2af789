import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { logLine } from "../config.ts";
import { PlugboardError } from "../index.ts";
import type { ConnectionChanged, ServerLog } from "../host.ts";
import type { Hub, HubOptions } from "../index.ts";
import { jsonLine, painter } from "./terminal/print.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { logLineText } from "./views/log-line.ts";
import { traceWriter } from "./views/trace.ts";

export interface InsightOptions {
  verbose?: boolean;
  /** `text`, `json`, or a file. */
  trace?: string;
}

/** For verbs that use servers. */
export function insightOptions(command: Command): Command {
  return command
    .option("-v, --verbose", "show what servers log and how their connections change, on standard error")
    .option(
      "--trace [=json|file]",
      "show every message to and from servers on standard error, without secrets; --trace=json prints JSON lines, --trace=FILE writes them to a file",
    );
}

export interface Insight extends Disposable {
  hubOptions: Pick<HubOptions, "onTrace">;
  watch(hub: Hub): void;
}

/** Shows on standard error, or writes to a file, what the options ask for. Call it before the hub is created. */
export function openInsight({ verbose = false, trace }: InsightOptions, terminal: Terminal): Insight {
  const onScreen = verbose || trace === "text" || trace === "json";
  // Lines that come at any time would break what is drawn over.
  if (onScreen) terminal.isErrLive = terminal.isLive = false;
  const file =
    trace === undefined || trace === "text" || trace === "json" ? undefined : openFile(trace, terminal);
  const paint = painter(terminal, "err");
  const readable = traceWriter(paint);
  const say = (event: ServerLog | ConnectionChanged) => {
    const line = logLine(event);
    if (line) terminal.err(logLineText(line, paint, event.server));
  };
  return {
    hubOptions:
      trace === undefined
        ? {}
        : {
            onTrace: (entry) => {
              if (file !== undefined) writeSync(file, jsonLine(entry));
              else terminal.err(trace === "json" ? jsonLine(entry) : readable(entry));
            },
          },
    watch: (hub) => {
      if (!verbose) return;
      hub.on("server-log", say);
      hub.on("connection-changed", say);
      hub.setLogLevel("debug").catch(() => undefined);
    },
    [Symbol.dispose]: () => {
      if (file !== undefined) closeSync(file);
    },
  };
}

function openFile(name: string, { cwd }: Terminal): number {
  try {
    if (name === "") throw new Error("it has no name");
    return openTraceFile(resolve(cwd, name));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new PlugboardError(
      "usage-invalid",
      `Cannot write the trace to ${name || "a file"}: ${code ?? message}.`,
      {
        hint: "Use --trace, --trace=json or --trace=FILE, where FILE can be written.",
        cause,
      },
    );
  }
}

/** Replaces an earlier trace, but no other file: what it holds would be lost. */
function openTraceFile(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    if (!fstatSync(file).isFile()) return file;
    if (!isTrace(file)) throw new Error("the file exists and is not a trace");
    fchmodSync(file, 0o600);
    ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** True for an empty file, and for one that begins like an entry of a trace. */
function isTrace(file: number): boolean {
  const start = Buffer.alloc(200);
  const text = start.toString("utf8", 0, readSync(file, start, 0, start.length, 0));
  return text === "" || /^\{"server":"(?:[^"\\]|\\.)*","kind":"/.test(text);
}
