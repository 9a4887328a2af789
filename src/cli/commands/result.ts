import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { printable } from "../../lib/printable.ts";
import { count, json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface ResultOptions extends CommonOptions {
  page?: number;
  find?: string;
}

export function command(terminal: Terminal): Command {
  return verb("result", "Page through or search a result that was too large to show.", [
    "result r_abcdefghijklmnopqrst",
    "result r_abcdefghijklmnopqrst --page 2",
    "result r_abcdefghijklmnopqrst --find 'error*timeout'",
  ])
    .argument("<handle>", "the handle shown with the result")
    .option("--page <number>", "the page to show, starting at 1", wholeNumber)
    .option("--find <text>", "show the matches of this text; * matches anything within a line")
    .action(async (handle: string, { page, find, json: asJson, ...options }: ResultOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        await withHub(terminal, { tolerant: true }, workspace, async (hub) => {
          const asked = { ...(page !== undefined && { page }), ...(find !== undefined && { find }) };
          const result = await hub.result(handle, asked);
          if (asJson) return terminal.out(json(result));
          const { text, pages, tokens, matches, more, server, isIncomplete } = result;
          if (text !== "") terminal.out(`${printable(text).replace(/\n$/, "")}\n`);
          const at = result.page ?? 1;
          const next = at < pages ? `; next: plugboard result ${safe(handle)} --page ${at + 1}` : "";
          const where = matches
            ? `${more ? "first " : ""}${count(matches.length, "match", "matches")} in ${count(pages, "page")}`
            : `page ${at} of ${pages}, about ${tokens.toLocaleString("en-US")} tokens in total${next}`;
          const end = isIncomplete ? "; the end was too large to keep" : "";
          const paint = painter(terminal, "err");
          terminal.err(`${paint("dim", `${safe(result.tool)} of ${safe(server)}: ${where}${end}`)}\n`);
          if (matches?.length === 0) terminal.exitCode = 1;
        });
      }),
    );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, starting at 1.");
}
