import type { RunCell } from "./cell.ts";
import type { FeatureId } from "./features.ts";
import { args, definitions, errors, prompts, resources, results } from "./pass-cells.ts";
import {
  clientError,
  form,
  page,
  pageComplete,
  pageRequired,
  parallel,
  promptsAndResources,
  roots,
  rootsChanged,
  sampling,
  together,
  undeclared,
  withdrawn,
} from "./question-cells.ts";
import { cancellation, leaving, listChanges, logging, progress, updates } from "./stream-cells.ts";

/** How each feature is tested. `slow` and `unaskedRoots` need other servers and have files of their own. */
export const cells: Record<Exclude<FeatureId, "slow" | "unaskedRoots">, RunCell> = {
  definitions,
  results,
  arguments: args,
  errors,
  resources,
  prompts,
  progress,
  cancellation,
  leaving,
  logging,
  listChanges,
  updates,
  form,
  promptsAndResources,
  together,
  page,
  pageComplete,
  pageRequired,
  sampling,
  roots,
  rootsChanged,
  undeclared,
  clientError,
  parallel,
  // The last one: an answer to a question that was just taken back may still be on its way to the server.
  withdrawn,
};
