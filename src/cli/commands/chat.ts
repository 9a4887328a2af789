import { Option } from "commander";
import type { Command } from "commander";
import { PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import { profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import { chatAnswers } from "../chat/answers.ts";
import { Conversations } from "../chat/conversations.ts";
import type { Conversation } from "../chat/conversations.ts";
import { chooseEndpoint, hostOf, sendsKeyInClear } from "../chat/endpoint.ts";
import type { EndpointFlags } from "../chat/endpoint.ts";
import type { Questions } from "../chat/questions.ts";
import { ChatSession } from "../chat/session.ts";
import { painter, safe } from "../terminal/print.ts";
import { diagnosticLine, reportDiagnostics } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { collect, verb, withWorkspace } from "../verb.ts";
import { sayWhatWaits } from "../waiting-approvals.ts";
import { loadForUse, withHub } from "../with-hub.ts";

interface ChatOptions extends ProfileOptions, EndpointFlags {
  print?: boolean;
  yes?: boolean;
  allow?: string[];
  continue?: boolean;
  resume?: string | true;
  output?: string;
}

export function command(terminal: Terminal): Command {
  return verb(
    "chat",
    "Talk with a model that uses the servers' tools. Works with every OpenAI-compatible endpoint and with Anthropic's; set the model once with `chat` in your configuration. Calls that may change something are asked about. In a pipe it answers once: its words go to standard output, everything else to standard error.",
    [
      "chat",
      "chat --model gpt-5 'what changed in this project today?'",
      "chat --url http://127.0.0.1:11434/v1 --model llama",
      "chat --continue",
      "chat --resume c_abcdefgh",
      'chat --print "list my open issues" --allow "issues.*"',
      "chat --json < question.txt",
    ],
  )
    .argument("[words...]", "what to say first; - stands for what is piped in")
    .option("--model <name>", "the model (default: PLUGBOARD_CHAT_MODEL, then chat.model)")
    .option("--url <url>", "the endpoint (default: PLUGBOARD_CHAT_URL, chat.url, then the provider's)")
    .addOption(
      new Option("--provider <format>", "the format the endpoint speaks").choices(["openai", "anthropic"]),
    )
    .option("-p, --print", "answer once and exit; this is what happens in a pipe anyway")
    .option("-c, --continue", "go on with the last conversation in this folder")
    .option("-r, --resume [id]", "go on with an earlier conversation; without an id, choose one")
    .option("-y, --yes", "approve all calls, even if the configuration says to ask")
    .option("--allow <tool>", "approve calls of this tool (repeatable; * is a wildcard)", collect)
    .option(
      "--output <folder>",
      "save images and other files here (default: chat.output, or the current folder)",
    )
    .addOption(profileOption())
    .action((words: string[], options: ChatOptions) =>
      withWorkspace(terminal, options, (workspace) => chat(words, options, workspace, terminal)),
    );
}

async function chat(
  words: string[],
  options: ChatOptions,
  workspace: Workspace,
  terminal: Terminal,
): Promise<void> {
  const config = await loadForUse(workspace, {});
  const settings = config.settings.chat ?? {};
  const endpoint = await chooseEndpoint(options, settings, workspace).catch((error: unknown) => {
    // Whoever sees a model in the project's file has to know that it does not count.
    const ignored = config.diagnostics.filter(({ path }) => path === "chat");
    if (!options.json) for (const one of ignored) terminal.err(diagnosticLine(one, terminal));
    throw error;
  });
  const { tty } = terminal;
  const isPrinting = options.print === true || options.json === true || !tty;
  const conversations = new Conversations(workspace.folders.state, (key, work) =>
    workspace.credentials.lock(key, work),
  );
  const conversation = await earlier(options, conversations, isPrinting, terminal);
  const text = await spoken(words, isPrinting, terminal);
  if (!options.json) reportDiagnostics(config.diagnostics, terminal, options.config);
  if (sendsKeyInClear(endpoint))
    terminal.err(`${painter(terminal, "err")("yellow", "warning:")} ${safe(clearWords(endpoint.url))}\n`);
  const stop = new AbortController();
  const questions: Questions = {
    onAsking: () => undefined,
    during: stop.signal,
    onCancel: () => stop.abort(),
  };
  const interact = chatAnswers({
    terminal,
    yes: options.yes ?? false,
    allow: options.allow ?? [],
    isQueued: config.settings.approvals?.queue === true,
    offersLogin: !isPrinting,
    onAsking: (isAsking) => questions.onAsking(isAsking),
    during: () => questions.during,
    onCancel: () => questions.onCancel(),
  });
  const use = { config, tolerant: true, eager: !isPrinting, interact, profile: options.profile };
  await withHub(terminal, use, workspace, async (hub, signal) => {
    const folder = options.output ?? homeward(settings.output, workspace) ?? ".";
    const session = new ChatSession({
      hub,
      endpoint,
      settings,
      conversations,
      conversation,
      terminal,
      folder,
      allow: options.allow ?? [],
    });
    if (!interact.approve) sayWhatWaits(hub, terminal);
    if (isPrinting || !tty) {
      const { printChat } = await import("../chat/print.ts");
      const asJson = options.json === true;
      return printChat({
        hub,
        session,
        text,
        asJson,
        terminal,
        signal,
        cancelled: stop.signal,
      });
    }
    const { interactiveChat } = await import("../chat/interactive.ts");
    const choosesConversation = options.resume === true;
    await interactiveChat({
      hub,
      session,
      conversations,
      terminal,
      tty,
      questions,
      first: text,
      choosesConversation,
      signal,
    });
  });
}

/** How long to wait for a pipe that may hold nothing, if there are words to say anyway. */
const pipeMs = 3000;

/**
 * The words on the command line, and what is piped in. Programs often leave a pipe open that nobody writes to, so with
 * words it must begin soon; `-` waits for it.
 */
async function spoken(words: string[], isPrinting: boolean, terminal: Terminal): Promise<string> {
  const typed = words.filter((word) => word !== "-").join(" ");
  if (!isPrinting) return typed;
  if (typed === "" && terminal.isInteractive && !terminal.tty)
    throw new PlugboardError("usage-invalid", "This terminal cannot hold a conversation (TERM=dumb).", {
      hint: 'Ask for one answer: plugboard chat --print "…"',
    });
  if (terminal.ask) return typed;
  if (typed !== "" && !words.includes("-") && !(await terminal.hasInput(pipeMs))) {
    const seconds = pipeMs / 1000;
    terminal.err(
      `note: Nothing was piped in within ${seconds} s, so only the words are said. Use - to wait.\n`,
    );
    return typed;
  }
  const piped = (await terminal.readInput()).trim();
  return [typed, piped].filter((part) => part !== "").join("\n\n");
}

async function earlier(
  options: ChatOptions,
  conversations: Conversations,
  isPrinting: boolean,
  terminal: Terminal,
): Promise<Conversation | undefined> {
  if (options.continue && options.resume !== undefined)
    throw new PlugboardError("usage-invalid", "Use only one of --continue and --resume.");
  if (typeof options.resume === "string") return conversations.load(options.resume);
  if (options.resume && isPrinting)
    throw new PlugboardError("usage-invalid", "--resume needs an id here, because nobody can choose.", {
      hint: "Use --continue for the last conversation in this folder. --json prints the id of each.",
    });
  if (!options.continue) return undefined;
  const { found, damaged } = await conversations.last(terminal.cwd);
  for (const file of damaged)
    terminal.err(
      `${painter(terminal, "err")("yellow", "warning:")} ${safe(`Skipped ${file}, because it cannot be read.`)}\n`,
    );
  if (found) return found;
  throw new PlugboardError("usage-invalid", "There is no earlier conversation in this folder.", {
    hint: "Begin one with `plugboard chat`, or choose one with --resume.",
  });
}

function homeward(folder: string | undefined, { folders }: Workspace): string | undefined {
  return folder?.replace(/^~(?=\/|$)/, folders.home) ?? undefined;
}

function clearWords(url: string): string {
  return `The key is sent to ${hostOf(url)} over plain http: others in the network can read it.`;
}
