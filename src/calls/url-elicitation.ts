import { PlugboardError } from "../errors.ts";
import { Refusal } from "../interact/answers.ts";
import { isRecord } from "../lib/record.ts";
import type { Inputs } from "./input-required.ts";

interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** What a legacy server answers when somebody has to open a page before the request can be executed. */
const urlRequired = -32_042;
const mostPages = 10;

/** The pages that somebody has to open, as the parameters of an elicitation; none for any other error. */
export function urlElicitations({ code, data }: RpcError): Record<string, unknown>[] {
  if (code !== urlRequired || !isRecord(data) || !Array.isArray(data["elicitations"])) return [];
  const asked = data["elicitations"].slice(0, mostPages);
  return asked.filter((one) => isRecord(one) && one["mode"] === "url" && typeof one["url"] === "string");
}

/**
 * Asks a person to open each page, once. If they agreed before and the server still is not content, waits until it says
 * that the page is done, or for a while. Returns the error for somebody who does not agree.
 */
export async function openPages(
  refusal: RpcError,
  opened: Set<string>,
  inputs: Pick<Inputs, "server" | "answer" | "completed">,
): Promise<PlugboardError | undefined> {
  const pages = urlElicitations(refusal);
  const unopened = pages.filter((page) => !opened.has(idOf(page)));
  if (unopened.length === 0) await Promise.all(pages.map((page) => inputs.completed(idOf(page))));
  for (const page of unopened) {
    const problem = await askToOpen(page, inputs);
    if (problem !== undefined) return unopenedPage(refusal, problem, inputs.server);
    opened.add(idOf(page));
  }
  return undefined;
}

function idOf({ elicitationId, url }: Record<string, unknown>): string {
  return String(elicitationId ?? url);
}

/** Why nobody opens the page; undefined if somebody does. */
async function askToOpen(
  page: Record<string, unknown>,
  { answer }: Pick<Inputs, "answer">,
): Promise<string | undefined> {
  try {
    const { action } = await answer("elicitation/create", page);
    return action === "accept" ? undefined : "that was declined";
  } catch (error) {
    if (error instanceof Refusal) return `nobody was asked: ${error.message}`;
    throw error;
  }
}

function unopenedPage({ code, message, data }: RpcError, problem: string, server: string): PlugboardError {
  const text = `"${server}" requires that somebody opens a page first (${message}), and ${problem}.`;
  return new PlugboardError("question-declined", text, {
    server,
    data: { rpcCode: code, ...(data !== undefined && { rpcData: data }) },
    executed: "no",
  });
}
