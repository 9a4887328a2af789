import { lost } from "./draft.ts";
import type { Rule } from "./fields.ts";

/** A name inside the entry; one that differs from the server's name has no place here. */
export const label: Rule = {
  read: (value, field, draft) => {
    if (value !== draft.name)
      draft.notes.push(lost(field, "a server has one name here, the one it is listed under"));
    return undefined;
  },
};
