import * as z from "zod/mini";
import { field, shownAs } from "../field.ts";
import { globMistake, pointerMistake } from "./conditions.ts";

const modes = ["approve", "auto", "prompt", "deny"] as const;
const mode = z.enum(modes);

/** What happens to a call: `auto` asks depending on annotations. */
export type Mode = (typeof modes)[number];

const checked = (mistakeIn: (text: string) => string | undefined) =>
  z
    .string()
    .check(
      z.refine((text) => mistakeIn(text) === undefined, { error: ({ input }) => mistakeIn(String(input)) }),
    );
const glob = checked(globMistake);
const name = z.string().check(z.minLength(1));
const names = z.union([name, z.array(name).check(z.minLength(1))], {
  error: "expected a name, or a list of names; `*` and `?` are wildcards",
});
const conditions = z.record(
  checked(pointerMistake),
  z.union([glob, z.array(glob).check(z.minLength(1))], { error: "expected a text, or a list of texts" }),
);

/** JSON pointers into the arguments, and what the values there have to match. */
export type Conditions = z.output<typeof conditions>;

const condition = shownAs(
  conditions.check(z.refine((when) => Object.keys(when).length > 0, "needs at least one condition")),
  "text",
);

const defaultMode = field(mode, "For calls that no pattern and no rule matches.", "auto");
const toolModes = field(
  z.record(name, mode),
  "By the server's name of the tool. `*` and `?` are wildcards. The strictest match wins.",
  { "delete_*": "prompt" },
  "text",
);
const toolNames = field(names, "The tools that the rule is about. Default: all.", "write_*", "text");

const example = { tools: "write_*", when: { "/path": ["docs/*", "notes/*"] }, mode: "approve" };

export const approval = z.union(
  [
    mode,
    z.strictObject({
      default: defaultMode,
      tools: toolModes,
      rules: field(
        z.array(z.strictObject({ tools: toolNames, when: condition, mode })),
        "Rules with conditions on the arguments: JSON pointers, and what the values there match. Together with `tools`, the strictest match wins.",
        [example],
      ),
    }),
  ],
  { error: "expected `approve`, `auto`, `prompt`, `deny`, or `{ default, tools, rules }`" },
);

export type Approval = z.output<typeof approval>;

const remembering = z.enum(["never", "session", "always"]);

/** How long answers may be remembered at most. */
export type MostRemembered = z.output<typeof remembering>;

const remember = z.optional(remembering);

/** The same in the managed policy, where it can only make things stricter. */
export const managedApproval = z.union(
  [
    mode,
    z.strictObject({
      default: defaultMode,
      tools: toolModes,
      rules: z.optional(
        z.array(
          z.strictObject({
            servers: z.optional(names),
            tools: z.optional(names),
            when: z.optional(condition),
            mode,
            remember,
          }),
        ),
      ),
      remember,
    }),
  ],
  { error: "expected `approve`, `auto`, `prompt`, `deny`, or `{ default, tools, rules, remember }`" },
);

/** The rules about approval in the managed policy. */
export type ManagedApproval = z.output<typeof managedApproval>;
