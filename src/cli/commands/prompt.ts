import type { Command } from "commander";
import { parsePromptCommand } from "../../host.ts";
import { PlugboardError, contentToText } from "../../index.ts";
import type { PromptCommand } from "../../host.ts";
import { shellWord } from "../../lib/argv.ts";
import { exampleValue } from "../arguments/example-values.ts";
import { isRecord } from "../../lib/record.ts";
import { nearest } from "../../lib/suggest.ts";
import { printable } from "../../lib/printable.ts";
import { findPrompt } from "../find.ts";
import { json, painter, safe } from "../terminal/print.ts";
import { flagsToPairs } from "../arguments/flags.ts";
import { assertAccounts } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import { serverVerb } from "../server-verb.ts";
import type { ServerOptions } from "../server-verb.ts";
import { withWorkspace } from "../verb.ts";
import { yieldingSpinner } from "../terminal/waiting.ts";
import { loadForUse, withHub } from "../with-hub.ts";

export function command(terminal: Terminal): Command {
  return (
    serverVerb("prompt", "Fill in a prompt and show the resulting messages.", [
      "prompt issues.summary",
      "prompt mcp__issues__summary since=2026-01-01",
      "prompt issues.summary 2026-01-01 'only the open ones'",
      "prompt --url https://issues.example/mcp summary",
    ])
      .argument("<id>", "the prompt's ID, server.prompt, or its name if it is unique")
      .argument("[arguments...]", "key=value, --key value, or values in order")
      // What is no option of ours may be an argument of the prompt.
      .allowUnknownOption()
      .action(async (id: string, words: string[], options: ServerOptions) =>
        withWorkspace(terminal, options, async (workspace) => {
          const config = await loadForUse(workspace, options);
          const { onAsking, spinWhile } = yieldingSpinner(id);
          const interact = terminalAnswers({ terminal, offersLogin: !options.json, onAsking });
          await withHub(
            terminal,
            { config, tolerant: true, interact, profile: options.profile, insight: options },
            workspace,
            async (hub, signal) => {
              const result = await spinWhile(
                terminal,
                async () => {
                  const prompt = await findPrompt(hub, id);
                  assertAccounts(hub.config.servers.get(prompt.server), options.profile);
                  return hub.getPrompt(prompt.id, readWords(prompt, words), { signal });
                },
                signal,
              );
              terminal.out(options.json ? json(result) : messagesText(result.messages, terminal));
            },
          );
        }),
      )
  );
}

/** Adds the quotes back that the shell removed, because prompt commands are parsed with them. */
function readWords(
  { id, server, name, arguments: declared }: PromptCommand,
  words: readonly string[],
): Record<string, string> {
  const properties = Object.fromEntries(declared.map(({ name }) => [name, { type: "string" }]));
  const quoted = flagsToPairs(words, { type: "object", properties }, "prompt").map((word) => {
    const given = declared.find((one) => word.startsWith(`${one.name}=`))?.name;
    if (given === undefined) assertNoName(word, declared);
    const start = given === undefined ? "" : `${given}=`;
    return `${start}"${word.slice(start.length).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  const missing = declared.filter(({ required }) => required);
  if (quoted.length === 0 && missing.length > 0) throw argumentsMissing(`${server}.${name}`, missing);
  return parsePromptCommand([id, ...quoted].join(" "), declared).args;
}

function argumentsMissing(prompt: string, missing: PromptCommand["arguments"]): PlugboardError {
  const names = missing.map((one) => one.name);
  const values = names
    .map((one) => shellWord(`${one}=${String(exampleValue({ type: "string" }, {}, one))}`))
    .join(" ");
  return new PlugboardError("usage-invalid", `The prompt ${prompt} needs ${names.join(", ")}.`, {
    hint: `Try: plugboard prompt ${shellWord(prompt)} ${values}`,
  });
}

/** A misspelt name must not become the text of another argument. */
function assertNoName(word: string, declared: PromptCommand["arguments"]): void {
  const [, key, value = ""] = /^([A-Za-z_][\w-]*)=(.*)$/s.exec(word) ?? [];
  const [first] = declared;
  if (key === undefined || first === undefined) return;
  const names = declared.map(({ name }) => name);
  const near = nearest(key, names);
  const hint =
    near === undefined
      ? `Its arguments are ${names.join(", ")}. To pass the text itself, write ${first.name}=${shellWord(word)}.`
      : `Did you mean ${shellWord(`${near}=${value}`)}?`;
  throw new PlugboardError("usage-invalid", `The prompt has no argument "${key}".`, { hint });
}

function messagesText(messages: readonly Record<string, unknown>[], terminal: Terminal): string {
  const paint = painter(terminal);
  const blocks = messages.map(({ role, content }) => {
    const text = printable(contentToText({ content: isRecord(content) ? [content] : content })).trimEnd();
    const heading = paint("bold", safe(typeof role === "string" ? role : "?"));
    return `${heading}\n${text.replaceAll(/^(?=.)/gm, "  ")}\n`;
  });
  return blocks.join("\n") || "The prompt has no messages.\n";
}
