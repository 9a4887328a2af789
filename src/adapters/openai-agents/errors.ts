import { unexpectedText } from "../core/failure.ts";
import type { AgentOptions } from "../core/options.ts";
import { endsTurn } from "../core/turn.ts";

/**
 * The SDK tells the model about exceptions, unless its error function throws. It does for those that are wished for, and for
 * the one that ends the turn; what is left is the SDK's own, such as JSON that it cannot read.
 */
export function errorFunctionOf({ errors }: AgentOptions): null | ((error: unknown) => string) {
  if (errors === "throw") return null;
  return (error) => {
    if (endsTurn(error)) throw error;
    return unexpectedText(error);
  };
}
