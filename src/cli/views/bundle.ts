import type { PlannedBundle } from "../../config.ts";
import { painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The bundles of an import: what each contains, and where it goes. */
export function bundleView(bundles: readonly PlannedBundle[], terminal: Terminal): string {
  if (bundles.length === 0) return "";
  const paint = painter(terminal);
  const lines = bundles.map(({ name, config, scope, action, reason, from }) => {
    const words = {
      add: [paint("green", "add "), `→ ${scope}`],
      same: [paint("dim", "have"), "already configured"],
      taken: [paint("yellow", "keep"), "you have another bundle with this name"],
      skip: [paint("yellow", "skip"), reason ?? ""],
    };
    const [word = "", where = ""] = words[action];
    const { allow, deny } = config.tools ?? {};
    const rules = [
      ...(allow ? [`allow ${allow.join(", ")}`] : []),
      ...(deny ? [`deny ${deny.join(", ")}`] : []),
    ].join("; ");
    const content = `${(config.servers ?? []).join(", ")}${rules ? `: ${rules}` : ""}`;
    return `  ${word}  ${safe(name)}  ${safe(content)}  ${paint("dim", `${safe(where)} (${from.title})`)}`;
  });
  return `${paint("bold", "Bundles")}\n${lines.join("\n")}\n\n`;
}
