import { PlugboardError } from "../../../errors.ts";
import type { ExitStatus } from "../../process/server-process.ts";
import type { StderrTail } from "./stderr-tail.ts";

/** The errors for all the ways a stdio connection can end, with the end of stderr if it helps. */
export function stdioErrors(server: string, stderr: StderrTail, redact = (text: string) => text) {
  const stderrEnd = () => redact(stderr.tail(tailBytes));
  const words = () => {
    const line = redact(stderr.lastWords());
    return line === "" ? "" : ` It printed: ${line}`;
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
      return new PlugboardError("server-exited", `"${server}" ${how}.${words()}`, {
        server,
        data: { exitCode: code, signal, stderr: stderrEnd() },
      });
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
