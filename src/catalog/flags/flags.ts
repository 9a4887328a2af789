import type { Definition, DefinitionFlag } from "./definition.ts";
import { foreignNames } from "./foreign-names.ts";
import { hiddenText } from "./hidden-text.ts";
import { lookAlikes } from "./look-alikes.ts";

/** Flags definitions, in the order that they are given. The time that it takes grows with the size of all texts. */
export function flagDefinitions(definitions: readonly Definition[]): DefinitionFlag[] {
  const alike = lookAlikes(definitions);
  const foreign = foreignNames(definitions);
  return definitions.flatMap((definition) => [
    ...hiddenText(definition),
    ...(alike.get(definition) ?? []),
    ...(foreign.get(definition) ?? []),
  ]);
}
