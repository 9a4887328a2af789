import { hidden, looksSecretParameter } from "../lib/secret-words.ts";

const longestUri = 1_024;
/** More of a message is not looked at. */
const longestRead = 8_192;

/**
 * A URI without credentials: some resources are links that are signed, or contain a login. Never has a user name, a
 * password or a fragment; of one that is too long, the query is left out as well.
 */
export function shownUri(uri: string): string {
  const [bare = ""] = uri.split(uri.length > longestUri ? /[?#]/ : "#", 1);
  const anonymous = bare.replace(/^([a-z][a-z\d+.-]*:)?([\\/]{2,})[^\\/?]*@/i, "$1$2");
  return hideParameters(anonymous).slice(0, longestUri);
}

/** The beginning of a message without the credentials of the URIs in it. */
export function shownMessage(text: string, longest: number): string {
  const shown = text
    .slice(0, longestRead)
    .replaceAll(/[a-z][a-z\d+.-]{0,40}:[\\/]{2}[^\s"'`<>]+/gi, (uri) => shownUri(uri));
  return hideParameters(shown).slice(0, longest);
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
