import { runtimeProblem } from "./runtime.ts";

// Imported first by the library's entries, so that an old runtime gets a sentence, not the first feature it lacks.
const problem = runtimeProblem(process.versions);
if (problem !== undefined) throw new Error(problem);
