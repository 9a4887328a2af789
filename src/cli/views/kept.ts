import { shownUrl } from "../../config.ts";
import type { KeptCredentials, StoredLogin } from "../../config.ts";
import { joinArgv } from "../../lib/argv.ts";
import { count } from "../terminal/print.ts";
import type { Finding } from "./finding.ts";

/** `issues (https://issues.example/mcp) as ada at https://login.example`. */
export function loginWords({ server, url, user, issuer, profile }: StoredLogin): string {
  const where = server === undefined ? shownUrl(url) : `${server} (${shownUrl(url)})`;
  const account = profile === "default" ? "" : ` (${profile})`;
  return `${where} as ${user ?? "unknown user"} at ${issuer}${account}`;
}

/** The command that ends a login whose server may be gone. A URL that contains a secret is not printed. */
export function logoutCommand({ server, url, issuer, profile }: StoredLogin): string {
  const named = server ?? (shownUrl(url) === url ? url : issuer);
  return joinArgv(["plugboard", "logout", named, ...(profile === "default" ? [] : ["--profile", profile])]);
}

/** A login as JSON output shows it. */
export function shownLogin(login: StoredLogin & { usedBy?: unknown }): Record<string, unknown> {
  const { key: _, url, ...rest } = login;
  return { ...rest, url: shownUrl(url) };
}

/** What the vault stores for no server that Plugboard knows of. */
export function unusedCredentials({ secrets, logins }: KeptCredentials) {
  return {
    secrets: secrets.filter(({ usedBy }) => usedBy.length === 0),
    logins: logins.filter(({ usedBy }) => usedBy.length === 0),
  };
}

/** The records that cannot be read, one finding for each reason. */
export function unreadableFindings({ problems }: Pick<KeptCredentials, "problems">): Finding[] {
  return Map.groupBy(problems, ({ message }) => message)
    .values()
    .map(([first, ...more]): Finding => ({
      level: "note",
      about: "vault",
      message: `${count(more.length + 1, "record")} cannot be read. ${first?.message ?? ""}`,
      ...(first && { advice: first.hint }),
    }))
    .toArray();
}

/** What `doctor` says about them. */
export function unusedFindings(kept: KeptCredentials): Finding[] {
  const { secrets, logins } = unusedCredentials(kept);
  return [
    ...logins.map((login): Finding => ({
      level: "note",
      about: "login",
      message: `${loginWords(login)}: no known server uses it`,
      advice: `If you do not need it, run \`${logoutCommand(login)}\`.`,
    })),
    ...secrets.map(({ name }): Finding => ({
      level: "note",
      about: "secret",
      message: `${name}: no known server uses it`,
      advice: `If you do not need it, run \`${joinArgv(["plugboard", "secret", "remove", name])}\`.`,
    })),
  ];
}
