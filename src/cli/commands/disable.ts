import type { Command } from "commander";
import { switchCommand } from "../switch.ts";
import type { Terminal } from "../terminal/terminal.ts";

export function command(terminal: Terminal): Command {
  return switchCommand("disable", terminal);
}
