import { shownArgs, shownWord } from "../../../config/show/references.ts";
import { PlugboardError } from "../../../errors.ts";
import { joinArgv } from "../../../lib/argv.ts";
import { lastWords } from "../../../lib/last-words.ts";
import { printable } from "../../../lib/printable.ts";
import type { ServerProgram } from "../../process/process-tree.ts";
import type { ExitStatus } from "../../process/server-process.ts";
import type { StderrTail } from "./stderr-tail.ts";

/** What a program said besides its answers. */
export interface Said {
  stderr: StderrTail;
  /** Lines on stdout that were not messages. */
  skipped: { first: readonly string[] };
  /** In messages. */
  logged: { error: string };
}

/** The errors for all the ways a stdio connection can end, with the end of stderr if it helps. */
export function stdioErrors(
  program: Pick<ServerProgram, "server" | "command" | "args" | "cwd">,
  { stderr, skipped, logged }: Said,
  redact = (text: string) => text,
) {
  const { server } = program;
  const stderrEnd = () => redact(stderr.tail(tailBytes));
  /** Some programs say why they end only where their messages belong. */
  const lastSaid = () =>
    redact(stderr.lastWords() || lastWords(skipped.first.join("\n")) || lastWords(logged.error));
  const words = () => {
    const line = lastSaid();
    return line === "" ? "" : ` It printed: ${line}`;
  };
  /** There is nothing in its logs then. */
  const silence = () => {
    const line = redact(joinArgv([shownWord(program.command), ...shownArgs(program.args ?? [])]));
    const folder = program.cwd === undefined ? "" : ` in ${program.cwd}`;
    return `It was started with: ${printable(line, { oneLine: true }).slice(0, maxCommand)}${folder}`;
  };
  const lost = (what: string) =>
    new PlugboardError("connection-lost", `"${server}" ${what}.${words()}`, {
      server,
      data: { stderr: stderrEnd() },
    });
  return {
    exited(exit: ExitStatus | undefined) {
      const { code = null, signal = null } = exit ?? {};
      const how = signal === null ? `exited with code ${code ?? "unknown"}` : `was killed by ${signal}`;
      const isSilent = lastSaid() === "";
      return new PlugboardError(
        "server-exited",
        `"${server}" ${how}.${isSilent ? " It printed nothing." : words()}`,
        {
          server,
          data: { exitCode: code, signal, stderr: stderrEnd() },
          ...(isSilent && { hint: silence() }),
        },
      );
    },
    outputClosed: () => lost("closed its output while it was still running"),
    inputClosed: () => lost("closed its input while it was still running"),
    holderGone: () =>
      new PlugboardError(
        "connection-lost",
        `The broker that holds the program of "${server}" is gone, and the program ends with it.${words()}`,
        { server, data: { stderr: stderrEnd() } },
      ),
    closed: () =>
      new PlugboardError("connection-lost", `The connection to "${server}" was closed.`, { server }),
    notStarted: () => new PlugboardError("connection-lost", `"${server}" has not been started.`, { server }),
    usedTwice: () =>
      new PlugboardError("internal", `The transport of "${server}" was started twice.`, { server }),
    notReading: (queuedBytes: number) =>
      new PlugboardError(
        "not-responding",
        `"${server}" does not read its input: ${queuedBytes} bytes are waiting for it.`,
        { server, data: { queuedBytes } },
      ),
    tooLarge: (bytes: number, maxLineBytes: number) =>
      new PlugboardError(
        "output-too-large",
        `"${server}" sent a message of more than ${maxLineBytes} bytes; the connection was ended.`,
        { server, data: { bytes, maxLineBytes }, executed: "maybe" },
      ),
  };
}

const tailBytes = 4096;
const maxCommand = 500;
