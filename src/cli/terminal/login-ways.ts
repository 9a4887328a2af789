import { openUrl } from "../../index.ts";
import type { IssuerChange, LoginWays } from "../../host.ts";
import { joinArgv } from "../../lib/argv.ts";
import type { Ask } from "./ask.ts";
import { safe } from "./print.ts";
import type { Terminal } from "./terminal.ts";

export interface LoginChoice {
  /** If false, opensBrowser nothing and asks for the final address from a browser elsewhere. */
  browser?: boolean;
  device?: boolean;
  alone?: Alone;
}

/** Runs output or a question while nothing else is drawn. */
export type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** How the person at this terminal logs in. Writes only to standard error, because standard output is for results. */
export function waysToLogIn(server: string, way: LoginChoice, terminal: Terminal): LoginWays {
  const { alone = (work) => work() } = way;
  const { ask } = terminal;
  return {
    ...waysToPage(server, { ...way, alone }, terminal),
    ...(ask && { acceptIssuer: (change, signal) => alone(() => askIssuer(ask, change, signal)) }),
  };
}

function waysToPage(
  server: string,
  { browser = true, device = false, alone }: LoginChoice & { alone: Alone },
  terminal: Terminal,
): LoginWays {
  const say = (text: string) => alone(async () => terminal.err(text));
  if (device) {
    return {
      device: ({ url, code, issuer, warning }) => {
        const words = `Open ${safe(url)} on any device to log in at ${safe(issuer)}, and enter the code ${safe(code)}\n`;
        return say(warning === undefined ? words : `${words}${safe(warning)}\n`);
      },
    };
  }
  const paste = (signal: AbortSignal) => alone(() => askRedirect(terminal, signal));
  if (!browser) {
    return {
      openUrl: (url) => say(`Open this address in a browser:\n\n  ${safe(url.href)}\n\n`),
      askRedirect: (_url, signal) => paste(signal),
    };
  }
  const opening = Promise.withResolvers<boolean>();
  return {
    openUrl: async (url) => {
      const words = `Opening the login page for ${safe(server)} in your browser. If that does not work, open it yourself:`;
      await say(`${words}\n\n  ${safe(url.href)}\n\n`);
      const isOpened = await opensBrowser(url, terminal);
      const elsewhere = terminal.ask
        ? ""
        : `; ${safe(joinArgv(["plugboard", "login", server, "--no-browser"]))} lets you use a browser elsewhere`;
      if (!isOpened) await say(`Could not open a browser here${elsewhere}.\n`);
      opening.resolve(isOpened);
    },
    // A browser on another machine cannot reach the callback here, but the person can paste its final address.
    ...(terminal.ask && {
      askRedirect: async (_url, signal) =>
        (await opening.promise) || signal.aborted ? untilAborted(signal) : paste(signal),
    }),
  };
}

/** Shows both hosts on lines of their own, because an address can be made to look like another one. */
async function askIssuer(
  ask: Ask,
  { server, from, to, endpoints, sends }: IssuerChange,
  signal: AbortSignal,
): Promise<boolean> {
  const elsewhere = endpoints.filter(
    (origin) => !to.split(" ").some((one) => hostOf(one) === hostOf(origin)),
  );
  const lines = [
    `${safe(server)} wants the login at another place than before.`,
    `  before: ${place(from)}`,
    `  now:    ${place(to)}`,
    ...(elsewhere.length > 0 ? [`  sends to: ${place(elsewhere.join(" "))}`] : []),
    ...(sends.length > 0 ? [`It would receive the ${safe(sends.join(" and the "))}.`] : []),
  ];
  await ask.say(lines.join("\n"));
  return (await ask.confirm({ message: `Log in at ${safe(hostsOf(to))}?` }, signal)) === true;
}

/** The hosts of one or more addresses. Below them an address with a path: a host may serve several issuers. */
function place(addresses: string): string {
  const withPath = addresses.split(" ").filter((one) => (URL.parse(one)?.pathname ?? "/") !== "/");
  return [hostsOf(addresses), ...withPath].map(safe).join("\n          ");
}

function hostsOf(addresses: string): string {
  return addresses.split(" ").map(hostOf).join(" and ");
}

function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}

async function opensBrowser(url: URL, { env }: Terminal): Promise<boolean> {
  if (isHeadlessSsh(env)) return false;
  try {
    await openUrl(url, env);
    return true;
  } catch {
    return false;
  }
}

/** True in an SSH session without a display: a browser opened here would not be visible to the person. */
function isHeadlessSsh(env: Terminal["env"]): boolean {
  const has = (name: string) => (env[name] ?? "") !== "";
  return has("SSH_CONNECTION") && !["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some(has);
}

/** Asks for the address the browser was redirected to, even if the page shows an error. */
async function askRedirect(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  if (!terminal.ask) return terminal.readLine(signal);
  const message = "Paste the final address from the browser (the page may show an error)";
  return terminal.ask.text({ message }, signal);
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
