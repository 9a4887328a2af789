import { openUrl } from "../../index.ts";
import type { LoginWays } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
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
  const { browser = true, device = false, alone = (work) => work() } = way;
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
  if (!terminal.ask) return terminal.readInput();
  const message = "Paste the final address from the browser (the page may show an error)";
  return terminal.ask.text({ message }, signal);
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
