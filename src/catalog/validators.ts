import type { Mistake, Validator } from "./schema/validate.ts";
import { createValidator } from "./schema/validate.ts";

/** Validators by schema object: created when first needed, and kept as long as the list that contains the schema. */
export class Validators {
  readonly #made = new WeakMap<object, Validator>();

  check(schema: object, value: unknown): Mistake[] {
    let validator = this.#made.get(schema);
    if (!validator) {
      validator = createValidator(schema);
      this.#made.set(schema, validator);
    }
    return validator(value);
  }
}
