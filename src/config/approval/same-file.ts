import { readingsOf, readableGlobs } from "./readings.ts";

/**
 * The texts under which some system may open the same file: one that ignores capitals or the dots at the end of a
 * name, has second names for its root, or stops reading at a NUL. Where none of that is so they are other files, so a
 * match is only a maybe. Takes time linear in the text.
 */
export function sameFiles(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const reading of [text, ...readingsOf(text)]) {
    found.add(canonical(reading));
    const cut = reading.search(/\0|%00/);
    if (cut > 0) for (const start of readingsOf(reading.slice(0, cut))) found.add(canonical(start));
    // `fileURLToPath` leaves out what comes after a `?`, and others read past any host.
    const path = /^file:(?:[/\\]{2}[^/\\]*)?([/\\][^?#]*)/i.exec(reading)?.[1];
    if (path !== undefined) for (const file of readingsOf(path)) found.add(canonical(file));
  }
  return found;
}

/** The patterns in the same spelling: those that look like paths, for others mean what they say. */
export function fileGlobs(globs: readonly string[]): string[] {
  const written = globs.filter(
    (glob) => /[/\\.]/.test(glob) && (!/\s/.test(glob) || startsLikePath.test(glob)),
  );
  return [...written, ...(readableGlobs(written) ?? [])].map(canonical);
}

const startsLikePath = /^(?:[~*.]?[/\\]|[a-z]:[/\\]|\*\.)/i;

function canonical(text: string): string {
  return text
    .normalize("NFC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .split("/")
    .map(plainName)
    .join("/")
    .replace(/^(?:\.\.\/)+/, "/")
    .replace(secondRoot, "");
}

/** As Windows reads it: without dots and spaces at its end, and without the name of the stream that is its content. */
function plainName(step: string): string {
  if (/^\.*$/.test(step)) return step;
  return withoutEnd(step.replace(/:(?:\$i30)?:\$[a-z_]+$/, ""));
}

function withoutEnd(step: string): string {
  let end = step.length;
  while (end > 1 && (step[end - 1] === "." || step[end - 1] === " ")) end--;
  return step.slice(0, end);
}

/** Prefixes under which Linux, macOS and Windows have everything once more. */
const secondRoot =
  /^(?:\/proc\/(?:self|thread-self|\d+)\/root(?=\/)|\/private(?=\/(?:etc|tmp|var)(?:\/|$))|\/system\/volumes\/data(?=\/)|\/+(?:[?.]\/+)?(?=[a-z]:\/))/;
