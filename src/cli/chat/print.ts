import { PlugboardError } from "../../index.ts";
import type { Hub } from "../../index.ts";
import { jsonLine, painter, safe } from "../terminal/print.ts";
import { printLines } from "../terminal/live-area.ts";
import { reportError } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ChatEvent } from "./events.ts";
import { ModelWords } from "./screen/model-words.ts";
import { callLine, resultLines } from "./screen/call-lines.ts";
import type { ChatSession } from "./session.ts";

export interface PrintOptions {
  hub: Hub;
  session: ChatSession;
  /** What is said. */
  text: string;
  asJson: boolean;
  terminal: Terminal;
  /** Aborted when the process is to end. */
  signal: AbortSignal;
  /** Aborted when the person cancels the turn in a question. */
  cancelled: AbortSignal;
}

/** One turn for scripts: the model's words on standard output and the rest on standard error, or events as JSON lines. */
export async function printChat({
  hub,
  session,
  text,
  asJson,
  terminal,
  signal,
  cancelled,
}: PrintOptions): Promise<void> {
  if (text.trim() === "")
    throw new PlugboardError("usage-invalid", "There is nothing to say to the model.", {
      hint: 'Pipe it in, or type it: plugboard chat --print "…"',
    });
  const { conversation, endpoint } = session;
  const show = asJson ? (event: ChatEvent) => terminal.out(jsonLine(event)) : textOutput(session, terminal);
  const { model, provider } = endpoint;
  show({ type: "start", conversation: conversation.id, model, provider });
  const stop = hub.on("call-progress", ({ server, tool, progress, total, message }) =>
    show({
      type: "tool-progress",
      server,
      tool,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    }),
  );
  try {
    const error = await session.say(text.trim(), AbortSignal.any([signal, cancelled]), show);
    signal.throwIfAborted();
    if (!error) return;
    terminal.exitCode = asJson ? error.exitCode : reportError(error, terminal, false);
  } finally {
    stop();
  }
}

function textOutput(session: ChatSession, terminal: Terminal): (event: ChatEvent) => void {
  const numbers = new Map<string, number>();
  const paint = painter(terminal, "err");
  const width = terminal.isErrLive ? terminal.columns - 1 : 200;
  const words = new ModelWords();
  let isInLine = false;
  const say = (text: string) => {
    if (text === "") return;
    terminal.out(text);
    isInLine = !text.endsWith("\n");
  };
  const endLine = () => {
    if (terminal.isScreen) say(words.end());
    if (isInLine) terminal.out("\n");
    isInLine = false;
  };
  const line = (text: string) => {
    endLine();
    terminal.err(text);
  };
  return (event) => {
    switch (event.type) {
      case "text":
        // A file gets what the model said, as it said it.
        return say(terminal.isScreen ? words.take(event.text) : event.text);
      case "tool-call": {
        numbers.set(event.id, numbers.size + 1);
        const number = numbers.size;
        const shown = callLine(number, session.nameOf(event.tool), event.arguments, width);
        return line(printLines([shown], terminal, "err"));
      }
      case "tool-result":
        return line(printLines(resultLines(numbers.get(event.id) ?? 0, event, width), terminal, "err"));
      case "notice":
        return line(`${paint("yellow", "note:")} ${safe(event.message)}\n`);
      case "end":
        return endLine();
      default:
    }
  };
}
