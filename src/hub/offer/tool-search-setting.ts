import type { LoadedConfig, Origin } from "../../config/model.ts";
import type { Environment } from "../../lib/folders.ts";
import { own } from "../../lib/record.ts";

/** When tools are deferred: always, never, or from this share of the model's context on. */
export type When = "always" | "never" | { percent: number };

/** What decides whether a view's tools are deferred, and where it is written. */
export interface ToolSearchSetting {
  when: When;
  /** `toolSearch`, `bundles.<name>.mode`, or the name of a variable. */
  rule: string;
  /** What it says. */
  value: string;
  /** Absent for variables, and if nothing is configured. */
  origin?: Origin;
}

const defaultPercent = 10;
const variables = ["PLUGBOARD_TOOL_SEARCH", "ENABLE_TOOL_SEARCH"];

/** The most specific setting applies: the bundle's mode, the configuration, the variables, `auto`. */
export function toolSearchSetting(
  { settings, settingOrigins, bundles }: LoadedConfig,
  env: Environment,
  bundleName: string | undefined,
): ToolSearchSetting {
  const bundle = bundleName === undefined ? undefined : bundles.get(bundleName);
  const mode = bundle?.config?.mode;
  if (bundle && mode) {
    const when = mode === "meta" ? "always" : "never";
    return {
      when,
      rule: `bundles.${bundle.name}.mode`,
      value: mode,
      origin: bundle.rules["mode"] ?? bundle.origin,
    };
  }
  if (settings.toolSearch !== undefined) {
    const value = String(settings.toolSearch);
    const origin = settingOrigins["toolSearch"];
    return { when: readWhen(value) ?? autoWhen, rule: "toolSearch", value, ...(origin && { origin }) };
  }
  for (const rule of variables) {
    const value = own(env, rule) ?? "";
    const when = readWhen(value);
    if (when) return { when, rule, value };
  }
  return { when: autoWhen, rule: "toolSearch", value: "auto" };
}

/** The variables that are set to something else than a setting; they are ignored. */
export function unreadableVariables(env: Environment): string[] {
  return variables.filter((name) => {
    const value = own(env, name) ?? "";
    return value !== "" && readWhen(value) === undefined;
  });
}

const autoWhen: When = { percent: defaultPercent };

/** `true`, `false`, `auto` or `auto:N`; undefined for anything else. */
function readWhen(value: string): When | undefined {
  if (value === "true") return "always";
  if (value === "false") return "never";
  const [, , percent] = /^auto(:(\d{1,3}))?$/.exec(value) ?? [];
  if (percent !== undefined) return { percent: Number(percent) };
  return value === "auto" ? autoWhen : undefined;
}
