import type { Command } from "commander";
import { profileOption } from "./arguments/profile.ts";
import type { ProfileOptions } from "./arguments/profile.ts";
import { insightOptions } from "./insight.ts";
import type { InsightOptions } from "./insight.ts";
import { oneOffOptions } from "./one-off.ts";
import type { OneOffOptions } from "./one-off.ts";
import { verb } from "./verb.ts";

export interface ServerOptions extends ProfileOptions, InsightOptions, OneOffOptions {}

/** Creates a verb that uses servers: configured ones, or one that is named on the command line. */
export function serverVerb(name: string, summary: string, examples: string[]): Command {
  const command = verb(name, summary, examples).addOption(profileOption());
  return insightOptions(oneOffOptions(command));
}
