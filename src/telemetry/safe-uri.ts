import { hidden, looksSecretParameter } from "../lib/secret-words.ts";

const longestUri = 1_024;
/** Longer than a credential usually is: what is cut could end with half of one. */
const margin = 8_192;
/** More of a message is not looked at. */
const longestRead = 8_192;

/**
 * A URI without credentials: some resources are links that are signed, or contain a login or the credential that their
 * server was given, which `redact` hides. Never has a user name, a password or a fragment; of one that is too long, the
 * query is left out as well.
 */
export function shownUri(uri: string, redact: (text: string) => string): string {
  if (uri.length <= longestUri + margin) return withoutLogin(redact(uri));
  const clean = redact(uri.slice(0, longestUri + margin));
  return withoutLogin(clean.slice(0, Math.max(0, clean.length - margin)).split(/[?#]/, 1)[0] ?? "");
}

function withoutLogin(uri: string): string {
  const [bare = ""] = uri.split(uri.length > longestUri ? /[?#]/ : "#", 1);
  const anonymous = bare.replace(/^([a-z][a-z\d+.-]*:)?([\\/]{2,})[^\\/?]*@/i, "$1$2");
  return hideParameters(anonymous).slice(0, longestUri);
}

/** The beginning of a message without the credentials of the URIs in it. */
export function shownMessage(text: string, longest: number): string {
  const shown = text
    .slice(0, longestRead)
    .replaceAll(/[a-z][a-z\d+.-]{0,40}:[\\/]{2}[^\s"'`<>]+/gi, (uri) => withoutLogin(uri));
  return hideParameters(shown).slice(0, longest);
}

/** A text without a URI that cannot be shown, or the beginning of it that a message is content with. */
export function withoutUri(text: string, uri: string): string {
  const head = uri.slice(0, 16);
  if (head === "") return text;
  let shown = "";
  let done = 0;
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, done)) {
    shown += text.slice(done, at) + hidden;
    done = at + head.length;
    while (done < text.length && text[done] === uri[done - at]) done++;
  }
  return shown + text.slice(done);
}

function hideParameters(text: string): string {
  return text.replaceAll(
    /([?&#;])([^?&#;=\s]{1,200})=([^&#;\s"'`<>]+)/g,
    (whole, mark: string, name: string) =>
      looksSecretParameter(plain(name)) ? `${mark}${name}=${hidden}` : whole,
  );
}

function plain(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
