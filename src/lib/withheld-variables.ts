import { matchesAny } from "./glob.ts";

/** What an entry gives its program of the environment. */
interface Given {
  env?: Readonly<Record<string, unknown>> | undefined;
  inheritEnv?: readonly string[] | undefined;
}

const most = 5;

/** The variables that a server's words name and that are set here, but that it does not get. Never their values. */
export function withheldVariables(
  words: string,
  environment: Readonly<Record<string, string | undefined>>,
  { env = {}, inheritEnv = [] }: Given,
): string[] {
  const named = new Set(words.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g));
  const isWithheld = (name: string) =>
    Boolean(environment[name]) &&
    !Object.hasOwn(env, name) &&
    !matchesAny(inheritEnv, name) &&
    // Every program gets those of the language, and launchers those of proxies; ours are not for servers.
    !/^LC_|_PROXY$|^PLUGBOARD_/.test(name);
  return [...named].filter(isWithheld).slice(0, most);
}

/** How they are passed on. */
export function passOnAdvice(names: readonly string[]): string {
  const verb = names.length === 1 ? "is" : "are";
  return `${names.join(", ")} ${verb} set here, but not passed on to the server. Add \`--inherit-env ${names.join(",")}\` to \`plugboard add\`, or write "inheritEnv": ${JSON.stringify(names)} in its entry.`;
}
