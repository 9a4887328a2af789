/**
 * What a text may mean to the programs that read it as a path or URL. They do not agree: for some `\` separates, for
 * some `%2f` does, `a//..` leaves `a` or not, and `/srv/x/` or `file:///srv/x` are `/srv/x`. Most texts can be read in
 * one way only. Takes time linear in the text.
 */
export function readingsOf(text: string): ReadonlySet<string> {
  const readings = new Set<string>();
  if (!/[/\\%:\p{Cc}]|^\s|\s$/u.test(text)) return readings.add(text);
  for (const spelled of new Set([text, withoutInvisible(text)])) {
    const base = plainAuthority(spelled);
    readings.add(resolved(base, { isCollapsed: true, isUrl: false }));
    readings.add(plain(base));
    if (mayGoUp(base)) {
      for (const separated of [base, withSlashes(base), withSlashes(base.replaceAll(/%2f|%5c/gi, "/"))])
        for (const isCollapsed of [true, false])
          readings.add(plain(resolved(separated, { isCollapsed, isUrl: true })));
    }
    for (const url of urlReadings(base)) readings.add(plain(url));
  }
  return readings;
}

/** The patterns in the spelling of readings; undefined if that is the same. */
export function readableGlobs(globs: readonly string[]): string[] | undefined {
  const all = globs.map((glob) => {
    const spelled = steps(withoutScheme(withSlashes(unescaped(plainAuthority(glob)))));
    const kept = spelled.filter((step, index) => step !== "." && (step !== "" || index === 0));
    const readable = kept.join("/");
    // `docs/*/` is about folders: without its end it would be about everything.
    return readable.endsWith("*") && /[/\\]$/.test(glob) ? `${readable}/` : readable || "/";
  });
  return all.some((glob, index) => glob !== globs[index]) ? all : undefined;
}

/** The last step: escapes undone, one separator, no empty steps, no dots. */
function plain(text: string): string {
  return resolved(withoutScheme(withSlashes(unescaped(text))), { isCollapsed: true, isUrl: true });
}

/** What a parser of URLs makes of it: one spelling of the host, no login, no fragment, no parameters of steps. */
function urlReadings(text: string): string[] {
  const url = /^[a-z][a-z\d+.-]+:/i.test(text) ? URL.parse(text) : undefined;
  if (!url) return [];
  url.hash = "";
  // An empty query is none.
  if (url.search === "") url.search = "";
  url.username = "";
  url.password = "";
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.replace(/\.+$/, "");
  const { href } = url;
  return href.includes(";") ? [href, href.replaceAll(/;[^/?#]*/g, "")] : [href];
}

/** Those who read a URL leave out line breaks and tabs everywhere, and spaces around it: `.\t.` is `..` for them. */
function withoutInvisible(text: string): string {
  return (/\p{Cc}/u.test(text) ? text.replaceAll(/\p{Cc}/gu, "") : text).trim();
}

function withSlashes(text: string): string {
  return text.replaceAll("\\", "/");
}

/** A file URL is the path of the file. */
function withoutScheme(text: string): string {
  return text.replace(/^file:(?:\/\/localhost(?=\/))?(?=\/)/i, "");
}

/** With the scheme and host as a parser of URLs writes them. */
function plainAuthority(text: string): string {
  return text.replace(/^[a-z][a-z\d+.-]+:\/\/[^/]*/i, (whole) =>
    whole.toLowerCase().replace(/^(https:.*):443$|^(http:.*):80$/, "$1$2"),
  );
}

/** Also what is escaped twice. Other bytes than ASCII are as good as any other character here. */
function unescaped(text: string): string {
  let last = text;
  for (let round = 0; round < 4 && last.includes("%"); round++) {
    const next = last.replaceAll(/(?:%[\da-f]{2})+/gi, decoded);
    if (next === last) break;
    last = next;
  }
  return last;
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return Buffer.from(escapes.replaceAll("%", ""), "hex").toString("latin1");
  }
}

function mayGoUp(text: string): boolean {
  return /(?:\.|%2e)(?:\.|%2e)/i.test(text);
}

function steps(text: string): string[] {
  return text.split("/");
}

interface Reading {
  /** Whether empty steps count for nothing, as in file systems, or are left like any other, as in URLs. */
  isCollapsed: boolean;
  /** Whether dots can be escaped, and end before a query, a fragment or a parameter. */
  isUrl: boolean;
}

/** A path or URL without `.` and `..`, and without a separator at its end. */
function resolved(text: string, { isCollapsed, isUrl }: Reading): string {
  const kept: string[] = [];
  for (const [index, step] of steps(text).entries()) {
    const { dots, rest } = dotsIn(step, isUrl);
    if (dots === "..") goUp(kept);
    const isEmpty = isCollapsed && rest === "" && index > 0;
    if (!isEmpty && (dots === undefined || rest !== "")) kept.push(rest);
  }
  while (kept.length > 1 && kept.at(-1) === "") kept.pop();
  return kept.length === 1 && kept[0] === "" && text !== "" ? "/" : kept.join("/");
}

function dotsIn(step: string, isUrl: boolean): { dots?: string; rest: string } {
  if (!isUrl) return step === "." || step === ".." ? { dots: step, rest: "" } : { rest: step };
  const [whole, dots] = /^((?:\.|%2e){1,2})(?=[?#;]|$)/i.exec(step) ?? [];
  if (whole === undefined || dots === undefined) return { rest: step };
  const rest = step.slice(whole.length).replace(/^;[^?#]*/, "");
  return { dots: dots.replaceAll(/%2e/gi, "."), rest };
}

/** Nothing is above the root. */
function goUp(kept: string[]): void {
  const last = kept.at(-1);
  if (last === undefined || last === "..") kept.push("..");
  else if (last !== "" || kept.length > 1) kept.pop();
}
