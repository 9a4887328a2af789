import type { ToolEntry } from "../../index.ts";
import { callLine } from "../arguments/call-line.ts";
import { exampleArguments } from "../arguments/example-values.ts";
import type { Line } from "../terminal/live-area.ts";
import { parameterLines } from "./parameter-lines.ts";
import { safe } from "../terminal/print.ts";
import { wrapText } from "../terminal/text-width.ts";

/** Everything needed to call a tool. `status` says why it cannot be called. */
export function toolPage(tool: ToolEntry, width: number, status: string): Line[] {
  const { id, server, name, renamedTo, title, description = "", inputSchema } = tool;
  const facts: [string, string][] = [
    ["server", server],
    ...(renamedTo === undefined ? [] : ([["its name", name]] as [string, string][])),
    ["effects", effectWords(tool.annotations)],
    ...(tool.status === "available" ? [] : ([["status", status]] as [string, string][])),
  ];
  const room = Math.max(20, width - 2);
  const parameters = parameterLines(inputSchema, inputSchema, width);
  const returned = tool.outputSchema && parameterLines(tool.outputSchema, tool.outputSchema, width);
  const heading = title ?? titleOf(tool);
  return [
    [{ text: safe(id), style: "bold" }, { text: heading === undefined ? "" : `  ${safe(heading)}` }],
    ...facts.flatMap(([label, text]) => labelled(label, text, room)),
    ...(description.trim() === "" ? [] : [[]]),
    ...description
      .trim()
      .split(/\r?\n/)
      .flatMap((line) => (line === "" && description.trim() === "" ? [] : wrapText(safe(line), room)))
      .map((text): Line => [{ text: text === "" ? "" : `  ${text}` }]),
    [],
    ...(parameters.length === 0 ? [[{ text: "No parameters." }]] : [[{ text: "Parameters" }], ...parameters]),
    ...(returned && returned.length > 0 ? [[], [{ text: "Returns" }], ...returned] : []),
    [],
    [{ text: safe(callLine(tool, exampleArguments(inputSchema, isReadOnly(tool)))), style: "cyan" }],
  ] as Line[];
}

function isReadOnly({ annotations }: ToolEntry): boolean {
  return annotations["readOnlyHint"] === true;
}

/** A tool's annotations in words. */
export function effectWords(annotations: Record<string, unknown>): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const words = [
    readOnlyHint === true ? "read-only" : readOnlyHint === false ? "makes changes" : "",
    readOnlyHint !== true && destructiveHint === true ? "may destroy or overwrite" : "",
    readOnlyHint !== true && destructiveHint === false ? "only adds" : "",
    readOnlyHint !== true && idempotentHint === true ? "safe to repeat" : "",
    openWorldHint === true
      ? "accesses external systems"
      : openWorldHint === false
        ? "stays within its own system"
        : "",
  ].filter((word) => word !== "");
  return words.length === 0 ? "not stated" : words.join(", ");
}

function titleOf({ annotations }: ToolEntry): string | undefined {
  return typeof annotations["title"] === "string" ? annotations["title"] : undefined;
}

function labelled(label: string, text: string, room: number): Line[] {
  const [first = "", ...rest] = wrapText(safe(text), Math.max(10, room - 10));
  return [
    [{ text: `  ${label.padEnd(9)} `, style: "dim" }, { text: first }],
    ...rest.map((line): Line => [{ text: `${" ".repeat(12)}${line}` }]),
  ];
}
