import type { Command } from "commander";
import { joinArgv } from "../../lib/argv.ts";
import { printable } from "../../lib/printable.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import { count, json, painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";

interface ResultOptions extends CommonOptions {
  page?: number;
  find?: string;
  part?: string;
  select?: string[];
}

export function command(terminal: Terminal): Command {
  return verb("result", "Page through or search a result that was too large to show.", [
    "result r_abcdefghijklmnopqrst",
    "result r_abcdefghijklmnopqrst --page 2",
    "result r_abcdefghijklmnopqrst --find 'error*timeout'",
    "result r_abcdefghijklmnopqrst --select /total --select '/items/*/name'",
    "result r_abcdefghijklmnopqrst --part 0",
  ])
    .argument("<handle>", "the handle shown with the result")
    .option("--page <number>", "the page to show, starting at 1", wholeNumber)
    .option("--find <text>", "show the matches of this text; * matches anything within a line")
    .option("--part <part>", "only this part: a number, or structured (--json lists them)")
    .option(
      "--select <pointer>",
      "only the value at this JSON pointer; * stands for every item of a list (may be repeated)",
      (pointer: string, before: string[] | undefined) => [...(before ?? []), pointer],
    )
    .action(async (handle: string, { page, find, part, select, json: asJson, ...options }: ResultOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        await withHub(terminal, { isLooking: true }, workspace, async (hub) => {
          const asked = {
            ...(page !== undefined && { page }),
            ...(find !== undefined && { find }),
            part,
            select,
          };
          const result = await hub.result(handle, asked);
          if (asJson) return terminal.out(json(result));
          const { text, pages, tokens, matches, more, server, isIncomplete } = result;
          if (text !== "") terminal.out(`${printable(text).replace(/\n$/, "")}\n`);
          const at = result.page ?? 1;
          const again = [handle, ...selectionWords(part, select), "--page", String(at + 1)];
          const next = at < pages ? `; next: plugboard result ${safe(joinArgv(again))}` : "";
          const where = matches
            ? more
              ? `the first ${count(matches.length, "match", "matches")}`
              : count(matches.length, "match", "matches")
            : `page ${at} of ${pages}, about ${tokens.toLocaleString("en-US")} tokens in total${next}`;
          const end = isIncomplete ? "; the end was too large to keep" : "";
          const paint = painter(terminal, "err");
          terminal.err(`${paint("dim", `${safe(result.tool)} of ${safe(server)}: ${where}${end}`)}\n`);
          if (matches?.length === 0) terminal.exitCode = 1;
        });
      }),
    );
}

function selectionWords(part: string | undefined, select: readonly string[] = []): string[] {
  const words = select.flatMap((pointer) => ["--select", pointer]);
  return part === undefined ? words : ["--part", part, ...words];
}
