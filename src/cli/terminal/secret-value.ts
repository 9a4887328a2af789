import { PlugboardError } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { cancelled } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export interface ValueSource {
  /** The words after the name: none, or `-` for standard input. */
  input: string[];
  /** The variable that holds the value. */
  fromEnv: string | undefined;
}

/** Reads a secret without showing it. Messages never repeat the input, because it may be the value itself. */
export async function readSecretValue(
  name: string,
  source: ValueSource,
  terminal: Terminal,
): Promise<string> {
  assertNoValue(source.input);
  const value = await valueFrom(name, source, terminal);
  if (value) return value;
  const why = source.fromEnv === undefined ? "" : ` The variable ${source.fromEnv} is not set.`;
  throw new PlugboardError("usage-invalid", `No value to store.${why}`, {
    hint: "Nothing was changed.",
  });
}

async function valueFrom(name: string, { input, fromEnv }: ValueSource, terminal: Terminal) {
  if (fromEnv !== undefined) return terminal.env[fromEnv];
  if (input[0] === "-") return (await terminal.readInput()).replace(/\r?\n$/, "");
  if (!terminal.ask) {
    throw new PlugboardError("usage-invalid", "Cannot ask for the secret without a terminal.", {
      hint: `Pipe it in (\`plugboard secret set ${shellWord(name)} -\`), or read it from a variable with --from-env.`,
    });
  }
  using caught = terminal.catchSignals();
  const value = await terminal.ask.password({ message: `Value of ${name} (not shown)` }, caught.signal);
  caught.signal.throwIfAborted();
  if (value === undefined) throw cancelled();
  return value;
}

function assertNoValue(input: string[]): void {
  if (input.length === 0 || (input.length === 1 && input[0] === "-")) return;
  throw new PlugboardError(
    "usage-invalid",
    "Do not pass a secret as an argument: it would show up in the shell history and the process list.",
    {
      hint: "Run `plugboard secret set NAME` and enter it when asked, or use `-` or --from-env. Replace the secret if you typed it here.",
    },
  );
}
