import type { Hub } from "../../index.ts";
import { painter, safe } from "../terminal/print.ts";
import { reportError } from "../terminal/report.ts";
import { whenAborted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { StatusBoard } from "../views/status/board.ts";
import { followChanges } from "../views/status/watch.ts";
import { chatCompleter } from "./completion.ts";
import type { Conversations } from "./conversations.ts";
import { hostOf } from "./endpoint.ts";
import { LineEditor } from "./line-editor.ts";
import { isTrouble } from "./mcp-screen.ts";
import { menuTerminal } from "./menus.ts";
import { isPromptLine } from "./prompt-line.ts";
import type { Questions } from "./questions.ts";
import { TurnScreen, noticeText } from "./screen/turn-screen.ts";
import type { ShownCall } from "./screen/turn-screen.ts";
import type { ChatSession } from "./session.ts";
import { chooseConversation, resumedText, runSlashCommand, slashCommands } from "./slash-commands.ts";

export interface InteractiveOptions {
  hub: Hub;
  session: ChatSession;
  conversations: Conversations;
  terminal: Terminal;
  tty: NonNullable<Terminal["tty"]>;
  questions: Questions;
  /** Said at once, if it was typed with the command. */
  first: string;
  /** Let the person choose an earlier conversation first. */
  choosesConversation: boolean;
  signal: AbortSignal;
}

/** Talks with the person at the terminal until they leave. */
export async function interactiveChat(options: InteractiveOptions): Promise<void> {
  const chat = new Interactive(options, await options.conversations.inputs());
  try {
    await Promise.race([chat.run(), whenAborted(options.signal)]);
  } finally {
    chat.close();
  }
}

class Interactive {
  readonly #options: InteractiveOptions;
  readonly #editor: LineEditor;
  readonly #board: StatusBoard;
  readonly #calls: ShownCall[] = [];
  #screen: TurnScreen | undefined;
  /** True after a Ctrl-C: the next one leaves. */
  #wasInterrupted = false;
  /** True while a command or a question has the screen. */
  #isBusy = false;
  #missed = "";
  /** Settled when no question is on the screen. */
  #asked = Promise.withResolvers<void>();
  readonly #isLeaving = Promise.withResolvers<"left">();

  constructor(options: InteractiveOptions, history: string[]) {
    this.#options = options;
    const { hub, tty, questions } = options;
    const names = () => [...hub.config.servers.keys()];
    this.#editor = new LineEditor(tty, chatCompleter(hub, Object.keys(slashCommands), names), history);
    this.#board = new StatusBoard(hub, { keepsTrying: true });
    this.#asked.resolve();
    questions.during = undefined;
    questions.onAsking = (isAsking) => this.#setAsking(isAsking);
  }

  #setAsking(isAsking: boolean): void {
    if (isAsking) {
      this.#asked = Promise.withResolvers();
      this.#screen?.hide(true);
    }
    this.#setBusy(isAsking);
    if (isAsking) return;
    this.#screen?.hide(false);
    this.#asked.resolve();
  }

  /** Questions read the keys themselves. */
  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) return this.#editor.release();
    this.#editor.attach();
    const missed = this.#missed;
    this.#missed = "";
    if (missed !== "") this.#tell(missed);
  }

  async run(): Promise<void> {
    const { terminal, session, first, choosesConversation } = this.#options;
    const { model, url } = session.endpoint;
    terminal.out(`${safe(model)} at ${safe(hostOf(url))}. /help lists the commands.\n`);
    if (session.conversation.messages.length > 0) terminal.out(`${resumedText(session)}\n`);
    this.#followServers();
    if (choosesConversation) await this.#resume();
    let next = first;
    for (;;) {
      const line = next === "" ? await this.#read() : next;
      if (line === undefined) return;
      next = "";
      if ((await Promise.race([this.#handle(line), this.#isLeaving.promise])) === "left") return;
    }
  }

  close(): void {
    this.#options.questions.onAsking = () => undefined;
    this.#screen?.[Symbol.dispose]();
    this.#editor.close();
  }

  /** A line that is not empty; undefined to leave. */
  async #read(): Promise<string | undefined> {
    const { terminal, conversations } = this.#options;
    for (;;) {
      const typing = this.#editor.read(painter(terminal)("bold", "> "));
      // The prompt is there: whatever takes long to load has time while somebody types.
      setImmediate(() => void import("./agent/agent.ts").catch(() => undefined));
      const typed = await typing;
      if (typed.kind === "end") return undefined;
      if (typed.kind === "interrupt") {
        if (this.#wasInterrupted && typed.text === "") return undefined;
        this.#wasInterrupted = typed.text === "";
        if (this.#wasInterrupted) terminal.out("Press Ctrl-C again to leave.\n");
        continue;
      }
      this.#wasInterrupted = false;
      if (typed.text.trim() === "") continue;
      await conversations.addInput(typed.text).catch(() => undefined);
      return typed.text.trim();
    }
  }

  #handle(line: string): Promise<"left" | undefined> {
    const isCommand = line.startsWith("/") && !isPromptLine(line);
    return this.#cancellable((stop, cancelled) =>
      isCommand ? this.#command(line, stop, cancelled) : this.#turn(line, stop, cancelled),
    );
  }

  async #command(line: string, signal: AbortSignal, cancelled: AbortSignal): Promise<"left" | undefined> {
    const { hub, session, conversations } = this.#options;
    const terminal = this.#menus;
    let isLeaving = false;
    const exit = () => void (isLeaving = true);
    const [board, calls] = [this.#board, this.#calls];
    this.#isBusy = true;
    try {
      await runSlashCommand(line, { hub, board, session, conversations, calls, terminal, signal, exit });
      if (isLeaving) return "left";
    } catch (error) {
      if (!cancelled.aborted) reportError(error, terminal, false);
    } finally {
      this.#setBusy(false);
    }
    if (cancelled.aborted) terminal.out("Cancelled.\n");
    terminal.out("\n");
    return undefined;
  }

  /** The editor has the keys between the questions of a menu, so Ctrl-C cancels. */
  get #menus(): Terminal {
    return menuTerminal(this.#options.terminal, (isAsking) => this.#setAsking(isAsking));
  }

  /** Runs a turn or a command that Ctrl-C cancels; a second one leaves. Whatever it asked is gone from the screen after it. */
  async #cancellable<T>(work: (signal: AbortSignal, cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const { questions, signal } = this.#options;
    const [abort, over] = [new AbortController(), new AbortController()];
    const stop = AbortSignal.any([signal, abort.signal]);
    questions.during = AbortSignal.any([stop, over.signal]);
    questions.onCancel = () => abort.abort();
    this.#editor.onInterrupt = () => {
      if (abort.signal.aborted) this.#isLeaving.resolve("left");
      abort.abort();
    };
    try {
      return await work(stop, abort.signal);
    } finally {
      over.abort();
      await this.#asked.promise;
      questions.during = undefined;
      questions.onCancel = () => undefined;
      this.#editor.onInterrupt = () => undefined;
    }
  }

  async #turn(text: string, stop: AbortSignal, cancelled: AbortSignal): Promise<undefined> {
    const { hub, terminal, session } = this.#options;
    const screen = new TurnScreen(terminal, hub, (tool) => session.nameOf(tool), this.#calls);
    this.#screen = screen;
    try {
      const error = await session.say(text, stop, (event) => screen.take(event));
      this.#screen = undefined;
      screen[Symbol.dispose]();
      this.#wasInterrupted = cancelled.aborted;
      if (cancelled.aborted) terminal.out("Cancelled. Press Ctrl-C again to leave.\n");
      else if (error) reportError(error, terminal, false);
      terminal.out("\n");
    } finally {
      screen[Symbol.dispose]();
      this.#screen = undefined;
    }
  }

  async #resume(): Promise<void> {
    const { session, conversations, terminal, signal } = this.#options;
    const id = await chooseConversation(conversations, this.#menus, signal);
    if (id === undefined) return;
    session.conversation = await conversations.load(id);
    terminal.out(`${resumedText(session)}\n`);
  }

  /** Shows a text of whole lines, wherever the person is. */
  #tell(text: string): void {
    if (this.#screen) this.#screen.note(text);
    else if (this.#isBusy) this.#missed += text;
    else this.#editor.above(text);
  }

  /** Starts the servers, and says when one of them is in trouble. */
  #followServers(): void {
    const { hub, terminal } = this.#options;
    const write = (line: string) => this.#tell(noticeText(line, terminal));
    followChanges(hub, this.#board, write, isTrouble);
    setImmediate(() => void hub.start().catch(() => undefined));
  }
}
