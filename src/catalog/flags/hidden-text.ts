import { hiddenCharacters } from "../../lib/printable.ts";
import type { Definition, DefinitionFlag } from "./definition.ts";
import { textsIn } from "./texts.ts";

const mostFlags = 20;
const longestShown = 200;

/** Characters that a person does not see, or that change what a terminal shows. */
export function hiddenText({ server, kind, name, sent }: Definition): DefinitionFlag[] {
  const flags: DefinitionFlag[] = [];
  for (const { path, text, isKey } of textsIn(sent)) {
    const isName = isKey === true || path === "name" || path === "uriTemplate";
    const counts = hiddenCharacters(text, { isName });
    if (counts.size === 0) continue;
    const found = [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
    const read = smuggled(text);
    const message = `${isKey ? "a name in it" : "it"} has hidden characters (${found})${read === "" ? "" : `, which spell ${JSON.stringify(read)}`}`;
    flags.push({ server, kind, name, flag: "hidden-characters", path, message });
    if (flags.length === mostFlags) break;
  }
  return flags;
}

/** What a model may read in tag characters and in bytes that are written as variation selectors. */
function smuggled(text: string): string {
  let read = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xe0020 && code <= 0xe007e) read += String.fromCharCode(code - 0xe0000);
    else if (code >= 0xe0100 && code <= 0xe01ef) {
      const byte = code - 0xe0100 + 16;
      if (byte >= 0x20 && byte <= 0x7e) read += String.fromCharCode(byte);
    }
    if (read.length > longestShown) return `${read.slice(0, longestShown)}…`;
  }
  return read;
}
