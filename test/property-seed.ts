import fc from "fast-check";

/**
 * Property tests see the same examples in every run, so that a change is judged by what it changed.
 * `PROPERTY_SEED=random` looks for new examples; a number repeats those of an earlier failure.
 */
const wanted = process.env["PROPERTY_SEED"] ?? "20260728";
if (wanted !== "random") fc.configureGlobal({ seed: Number(wanted) });
