import { readFileSync } from "node:fs";

/** The table of docs/events.md: every event of the union in src/events.ts, with what its fields say. */
export function eventReference(): string {
  const source = readFileSync("src/events.ts", "utf8");
  const interfaces = new Map(
    [
      ...source.matchAll(
        /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:export )?interface (\w+)( extends [\w, ]+)? \{\n([\s\S]*?)\n\}/g,
      ),
    ].map(([, comment = "", name = "", bases = "", body = ""]) => [
      name,
      { words: wordsOf(comment), isPersonal: bases.includes("Whose"), body },
    ]),
  );
  const [, union = ""] = /type PlugboardEvent =([^;]+);/.exec(source) ?? [];
  const rows = [...union.matchAll(/\| (\w+)/g)].map(([, name = ""]) => {
    const event = interfaces.get(name);
    if (!event?.words) throw new Error(`${name} in src/events.ts needs a comment`);
    const { type, fields } = fieldsOf(event.body);
    const whose = event.isPersonal ? ["`caller?`, `project?`, `account?`"] : [];
    return `| \`${type}\` | ${cell(event.words)} | ${cell([...fields, ...whose].join("<br>"))} |`;
  });
  const head = "| event | when | fields, beside `type` and `at` |\n|---|---|---|";
  const text = readFileSync("scripts/events.md", "utf8");
  return text.replace("<!-- table -->", [head, ...rows].join("\n"));
}

function fieldsOf(body: string): { type: string; fields: string[] } {
  const [, type = ""] = /^  type: "([\w-]+)";$/m.exec(body) ?? [];
  const members = body.matchAll(
    /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\s*)?^  (\w+\??): ((?:\{[^}]*\}|[^;{])+);$/gm,
  );
  const fields = [...members].flatMap(([, comment = "", name = "", kind = ""]) => {
    if (name === "type") return [];
    const values = kind.startsWith('"') ? ` (${kind.replaceAll('"', "").split(" | ").join(", ")})` : "";
    const words = wordsOf(comment);
    return [`\`${name}\`${values}${words ? `: ${words}` : ""}`];
  });
  return { type, fields };
}

function wordsOf(comment: string): string {
  const lines = comment.replaceAll(/^\s*\/\*\*|\*\/\s*$/g, "").split("\n");
  return lines
    .map((line) => line.replace(/^\s*\*? ?/, "").trim())
    .join(" ")
    .trim();
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
