import type { Definition, DefinitionFlag } from "./definition.ts";

/** Names of tools that look the same, on one server or on two, and are not. */
export function lookAlikes(definitions: readonly Definition[]): Map<Definition, DefinitionFlag[]> {
  const bySkeleton = new Map<string, Definition[]>();
  for (const definition of definitions) {
    if (definition.kind !== "tool") continue;
    const shape = skeleton(definition.name);
    const same = bySkeleton.get(shape);
    if (same) same.push(definition);
    else bySkeleton.set(shape, [definition]);
  }
  const flags = new Map<Definition, DefinitionFlag[]>();
  for (const same of bySkeleton.values()) {
    const [first] = same;
    const second = same.find(({ name }) => name !== first?.name);
    if (!first || !second) continue;
    for (const definition of same)
      flags.set(definition, [alike(definition, definition.name === first.name ? second : first)]);
  }
  for (const definition of definitions) {
    if (definition.kind !== "tool" || flags.has(definition) || !isMixed(definition.name)) continue;
    flags.set(definition, [mixed(definition)]);
  }
  return flags;
}

function alike({ server, kind, name }: Definition, other: Definition): DefinitionFlag {
  const where = other.server === server ? "the same server" : `"${other.server}"`;
  const message = `its name looks like ${JSON.stringify(other.name)} of ${where}`;
  return { server, kind, name, flag: "look-alike-name", path: "name", message };
}

function mixed({ server, kind, name }: Definition): DefinitionFlag {
  const message = "its name mixes letters of different alphabets that look alike";
  return { server, kind, name, flag: "look-alike-name", path: "name", message };
}

/** Latin letters with some of another alphabet among them that look like Latin ones. */
function isMixed(name: string): boolean {
  const isForeign = (letter: string) => letter.charCodeAt(0) > 0x7f && twins.has(letter);
  return /[a-z]/i.test(name) && Array.from(name.normalize("NFKC")).some(isForeign);
}

/** Two names with the same skeleton cannot be told apart by eye. */
export function skeleton(name: string): string {
  const visible = name
    .normalize("NFKD")
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Mark}\u{2800}]/gu, "");
  const letters = Array.from(visible)
    .map((letter) => twins.get(letter) ?? letter)
    .join("");
  return letters.replaceAll("rn", "m").replaceAll("vv", "w").replaceAll("cl", "d");
}

/** Cyrillic, Greek, Armenian and other letters and digits by the Latin one that they look like. */
const twins = new Map<string, string>(
  Object.entries({
    a: "аɑα",
    b: "Ьƅ",
    c: "сϲᴄ",
    d: "ԁɗ",
    e: "еєҽ",
    f: "ƒ",
    g: "ɡցğ",
    h: "һհ",
    i: "іıɩι",
    j: "јϳ",
    k: "κкᴋ",
    l: "I1|ӏӀⅼ",
    m: "мᴍ",
    n: "ոп",
    o: "0OоοօσОΟ",
    p: "рρ",
    q: "ԛգ",
    r: "гᴦ",
    s: "ѕꜱ",
    t: "тτᴛ",
    u: "υսᴜ",
    v: "νѵᴠ",
    w: "ѡԝᴡω",
    x: "хχ",
    y: "уγү",
    z: "ᴢ",
    A: "АΑ",
    B: "ВΒ",
    C: "СϹ",
    E: "ЕΕ",
    H: "НΗ",
    J: "Ј",
    K: "КΚ",
    M: "МΜ",
    N: "Ν",
    P: "РΡ",
    S: "Ѕ",
    T: "ТΤ",
    X: "ХΧ",
    Y: "ҮΥ",
    Z: "Ζ",
    _: "‗＿",
    "-": "‐‑‒–—−",
  }).flatMap(([latin, others]) => Array.from(others).map((other) => [other, latin] as const)),
);
