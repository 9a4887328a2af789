import type { Definition, DefinitionFlag } from "./definition.ts";
import { foreignNames } from "./foreign-names.ts";
import { hiddenText } from "./hidden-text.ts";
import { lookAlikes } from "./look-alikes.ts";

/**
 * Flags definitions, in the order that they are given; `isWanted` leaves out those that only the others are compared
 * with. The time that it takes grows with the size of all texts.
 */
export function flagDefinitions(
  definitions: readonly Definition[],
  isWanted: (definition: Definition) => boolean = () => true,
): DefinitionFlag[] {
  const wanted = definitions.filter(isWanted);
  const alike = lookAlikes(definitions);
  const foreign = foreignNames(definitions, wanted);
  return wanted.flatMap((definition) => [
    ...hiddenText(definition),
    ...(alike.get(definition) ?? []),
    ...(foreign.get(definition) ?? []),
  ]);
}
