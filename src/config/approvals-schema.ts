import * as z from "zod/mini";
import { field } from "./server-schema.ts";

/** A question tells what is called with which arguments, so nobody on the way may read or answer it. */
const webhookUrl = z
  .string()
  .check(
    z.refine(
      (url) => url.includes("${") || isPrivateAddress(url),
      "expected an https URL; plain http is only for this machine (127.0.0.1, localhost)",
    ),
  );

/** The `approvals` settings. */
export const approvals = z.strictObject({
  queue: field(
    z.boolean(),
    "With nobody to ask, a call that needs approval waits for an answer instead of being refused. Answer with `plugboard approvals`, over HTTP or through the webhook.",
    true,
  ),
  webhook: field(
    z.strictObject({
      url: field(
        webhookUrl,
        "Where to POST each question. https, or http on this machine.",
        "https://approvals.example/plugboard",
        "url",
      ),
      secret: field(
        z.string().check(z.minLength(1)),
        "At least 16 characters. Signs each request, so that the receiver knows it is from here. Use a reference.",
        "${secret:APPROVAL_WEBHOOK}",
      ),
    }),
    "A program of yours that is told about each waiting question, and may answer it.",
    { url: "https://approvals.example/plugboard", secret: "${secret:APPROVAL_WEBHOOK}" },
  ),
  expireMs: field(
    z.int().check(z.minimum(1_000), z.maximum(604_800_000)),
    "How long a question waits for an answer, and an answer for its client. Default: one hour.",
    3_600_000,
  ),
});

export const defaultExpireMs = 3_600_000;

/** True if what is sent there cannot be read on the way. */
export function isPrivateAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere);
}
