import type { LogLine } from "../../config.ts";
import { safe } from "../terminal/print.ts";
import type { Paint, Style } from "../terminal/print.ts";
import { clockTime } from "./clock-time.ts";

const severe: Partial<Record<LogLine["level"], Style>> = {
  warning: "yellow",
  error: "red",
  critical: "red",
  alert: "red",
  emergency: "red",
};

/**
 * `09:05:12.040  stderr   listening`, with the server's name after the time if it is given. Log messages of the protocol
 * have their level in place of the source.
 */
export function logLineText(
  { at, source, level, message }: Omit<LogLine, "pid">,
  paint: Paint,
  server?: string,
  wrap: (text: string, indent: number) => string = (text) => text,
): string {
  const label = source === "notification" ? level : source === "state" ? "──" : source;
  const style = source === "state" && level === "info" ? "dim" : severe[level];
  const words = wrap(safe(message), 23);
  const name = server === undefined ? "" : `${paint("bold", safe(server))}  `;
  return `${paint("dim", clockTime(at))}  ${name}${label.padEnd(8)} ${style ? paint(style, words) : words}\n`;
}
