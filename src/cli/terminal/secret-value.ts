import { PlugboardError } from "../../index.ts";
import type { Terminal } from "./terminal.ts";

export interface ValueWay {
  /** The words behind the name: nothing, or `-` for standard input. */
  input: string[];
  /** The variable that holds the value. */
  fromEnv: string | undefined;
}

/** A secret's value, from where it does not show. No message repeats what was typed, which may be the value itself. */
export async function readSecretValue(name: string, way: ValueWay, terminal: Terminal): Promise<string> {
  assertNoValue(way.input);
  const value = await valueFrom(name, way, terminal);
  if (value) return value;
  const why = way.fromEnv === undefined ? "" : " The variable given by --from-env is not set.";
  throw new PlugboardError("usage-invalid", `There is no value to keep.${why}`, {
    hint: "Nothing was changed.",
  });
}

async function valueFrom(name: string, { input, fromEnv }: ValueWay, terminal: Terminal) {
  if (fromEnv !== undefined) return terminal.env[fromEnv];
  if (input[0] === "-") return (await terminal.readInput()).replace(/\r?\n$/, "");
  if (!terminal.ask) {
    throw new PlugboardError("usage-invalid", "Nobody is there to type the secret.", {
      hint: `Pipe it in (\`plugboard secret set ${name} -\`), or name a variable with --from-env.`,
    });
  }
  using caught = terminal.catchSignals();
  const value = await terminal.ask.password({ message: `Value of ${name} (not shown)` }, caught.signal);
  caught.signal.throwIfAborted();
  return value;
}

function assertNoValue(input: string[]): void {
  if (input.length === 0 || (input.length === 1 && input[0] === "-")) return;
  throw new PlugboardError(
    "usage-invalid",
    "A secret is not given as an argument: the shell's history and the list of processes would show it.",
    {
      hint: "Run `plugboard secret set NAME` and type it when asked, or use `-` or --from-env. Replace a value that you have typed here.",
    },
  );
}
