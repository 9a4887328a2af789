import { openUrl } from "../../index.ts";
import type { LoginWays } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { safe } from "./print.ts";
import type { Terminal } from "./terminal.ts";

export interface LoginChoice {
  /** False: open nothing, and take the address that a browser elsewhere ends at. */
  browser?: boolean;
  device?: boolean;
  alone?: Alone;
}

/** Runs what a person sees or is asked while nothing else is drawn. */
export type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** How a person at this terminal logs in. All they see goes to standard error: standard output is for results. */
export function waysToLogIn(server: string, way: LoginChoice, terminal: Terminal): LoginWays {
  const { browser = true, device = false, alone = (work) => work() } = way;
  const say = (text: string) => alone(async () => terminal.err(text));
  if (device) {
    return {
      device: ({ url, code, issuer, warning }) => {
        const words = `Open ${safe(url)} on any device to log in at ${safe(issuer)}, and type in the code ${safe(code)}\n`;
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
      const words = `Opening the login of ${safe(server)} in the browser. If that does not work, open it yourself:`;
      await say(`${words}\n\n  ${safe(url.href)}\n\n`);
      const isOpened = await opens(url, terminal);
      const elsewhere = terminal.ask
        ? ""
        : `; ${safe(joinArgv(["plugboard", "login", server, "--no-browser"]))} lets you use one elsewhere`;
      if (!isOpened) await say(`No browser could be opened here${elsewhere}.\n`);
      opening.resolve(isOpened);
    },
    // A browser on another machine cannot come back to this one, but its address can be carried here.
    ...(terminal.ask && {
      askRedirect: async (_url, signal) =>
        (await opening.promise) || signal.aborted ? untilAborted(signal) : paste(signal),
    }),
  };
}

async function opens(url: URL, { env }: Terminal): Promise<boolean> {
  if (isFarAway(env)) return false;
  try {
    await openUrl(url, env);
    return true;
  } catch {
    return false;
  }
}

/** Logged in from elsewhere, and without a way to show a window there: what would open here nobody would see. */
function isFarAway(env: Terminal["env"]): boolean {
  const has = (name: string) => (env[name] ?? "") !== "";
  return has("SSH_CONNECTION") && !["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].some(has);
}

/** The address that the browser ends at, even when it shows an error there. */
async function askRedirect(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  if (!terminal.ask) return terminal.readInput();
  const message = "Paste the address that the browser ends at (it may show an error there)";
  return terminal.ask.text({ message }, signal);
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
