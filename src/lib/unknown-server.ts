import { PlugboardError } from "../errors.ts";
import { nearest } from "./suggest.ts";

/** The error about a name that no server has, with the closest one that exists. */
export function unknownServer(name: string, known: Iterable<string>): PlugboardError {
  const names = [...known];
  const near = nearest(name, names);
  return new PlugboardError("server-unknown", `There is no server "${name}".`, {
    server: name,
    data: { known: names },
    ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
  });
}
