import { hidden, looksSecretParameter } from "../../lib/secret-words.ts";
import { hide, showPlain } from "./marked.ts";

/** Any number of slashes of either kind may follow `http:`. */
const form = /^(https?:[\\/]*|(?:[a-z][a-z0-9+.-]*:)+\/\/)([^\s/?#\\]*)([^\s?#]*)(\?[^\s#]*)?(#\S*)?$/i;

/** A URL whose references are marked; see `shownUrl`. */
export function showUrl(url: string): string {
  const usual = form.test(url) ? url : unusual(url);
  const [, scheme = "", authority = "", path = "", query = "", fragment = ""] = form.exec(usual ?? "") ?? [];
  if (usual === undefined || scheme === "") return showPlain(url);
  const at = authority.lastIndexOf("@");
  const [login, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  // With an unescaped `/` in a password, most of the password looks like a path.
  const isMisread = !isHost.test(host) || (!/https?:[\\/]*$/i.test(scheme) && path.includes("@"));
  if (isMisread) return `${scheme}${hide(usual.slice(scheme.length))}`;
  return [
    scheme,
    at === -1 ? "" : `${hide(login)}@`,
    host,
    path.replaceAll(/[^/\\]+/g, showPlain),
    query && `?${query.slice(1).replaceAll(/[^&;]+/g, showParameter)}`,
    fragment && `#${hide(fragment.slice(1))}`,
  ].join("");
}

const isHost = /^(?:[\p{L}\p{M}\p{N}\p{Co}_.*-]+|\[[\da-f:.%]+\])?(?::[\d\p{Co}]*)?(?:,[\w.:-]+)*$/iu;

/** Browsers and fetch ignore spaces and line breaks in some places of a URL. */
function unusual(url: string): string | undefined {
  return /^\s*(?:https?|wss?|ftp):/i.test(url) ? (URL.parse(url)?.href ?? hidden) : undefined;
}

function showParameter(parameter: string): string {
  const at = parameter.indexOf("=");
  if (at === -1) return hide(parameter);
  const [name, value] = [parameter.slice(0, at), parameter.slice(at + 1)];
  return `${showPlain(name)}=${looksSecretParameter(name) ? hide(value) : showPlain(value)}`;
}
