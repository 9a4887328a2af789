import type { Ask } from "../terminal/ask.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The terminal for menus. Calls `onAsking` around each question, so that somebody else has the keys between them. */
export function menuTerminal(terminal: Terminal, onAsking: (isAsking: boolean) => void): Terminal {
  const { ask } = terminal;
  if (!ask) return terminal;
  const shown =
    <A extends unknown[], T>(question: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      onAsking(true);
      try {
        return await question(...given);
      } finally {
        onAsking(false);
      }
    };
  const { say, text, password, confirm, choose, chooseMany } = ask;
  const quiet: Ask = {
    get width() {
      return ask.width;
    },
    say,
    text: shown(text),
    password: shown(password),
    confirm: shown(confirm),
    choose: shown(choose),
    chooseMany: shown(chooseMany),
  };
  return Object.create(terminal, { ask: { value: quiet } }) as Terminal;
}
