import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { printable } from "../../lib/printable.ts";
import { json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface ResultOptions extends CommonOptions {
  page?: number;
  find?: string;
}

export function command(terminal: Terminal): Command {
  return verb("result", "Read a result that was too large to be shown, page by page, or search in it.", [
    "result r_abcdefghijklmnopqrst",
    "result r_abcdefghijklmnopqrst --page 2",
    "result r_abcdefghijklmnopqrst --find 'error*timeout'",
  ])
    .argument("<handle>", "as it was given with the result")
    .option("--page <number>", "which page, from 1", wholeNumber)
    .option("--find <text>", "show the places with this text; * stands for anything within a line")
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
            ? `${matches.length}${more ? " of more" : ""} found in ${pages} pages`
            : `page ${at} of ${pages}, about ${tokens.toLocaleString("en-US")} tokens in all${next}`;
          const end = isIncomplete ? "; it was too large to be kept to its end" : "";
          const paint = painter(terminal, "err");
          terminal.err(`${paint("dim", `${safe(result.tool)} of ${safe(server)}: ${where}${end}`)}\n`);
          if (matches?.length === 0) terminal.exitCode = 1;
        });
      }),
    );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Pages are numbered from 1.");
}
