import { modeOf } from "../calls/approve.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { LoadedConfig, Origin } from "../config/model.ts";

/** A tool's status and approval mode, and where they come from. */
export interface ToolExplanation {
  id: string;
  server: string;
  name: string;
  status: ToolEntry["status"];
  because?: string;
  renamedTo?: string;
  approval: { mode: string; origin?: Origin };
  /** The config settings that apply to it. */
  rules: { rule: string; origin: Origin }[];
}

export function explainTool(
  tool: ToolEntry,
  { servers, settings, settingOrigins }: LoadedConfig,
): ToolExplanation {
  const entry = servers.get(tool.server);
  const { config = {}, fields = {} } = entry ?? {};
  const mode = modeOf(tool, { config, settings, otherwise: "approve" });
  const approvalOrigin = config.approval === undefined ? settingOrigins["approval"] : fields["approval"];
  const rules = ["tools", "approval", "untrusted", "output"].flatMap((rule) => {
    const origin = fields[rule];
    return origin ? [{ rule, origin }] : [];
  });
  return {
    id: tool.id,
    server: tool.server,
    name: tool.name,
    status: tool.status,
    ...(tool.because !== undefined && { because: tool.because }),
    ...(tool.renamedTo !== undefined && { renamedTo: tool.renamedTo }),
    approval: {
      mode: approvalOrigin
        ? mode
        : "not configured; the caller decides (library and gateway: their caller; chat: by the tool's annotations)",
      ...(approvalOrigin && { origin: approvalOrigin }),
    },
    rules,
  };
}
