import { isRecord } from "../../lib/record.ts";
import { lost, type ReadDraft } from "./draft.ts";

/** `https://user:password@host` is refused here, so the credentials move into the header they stand for. */
export function moveCredentials({ homes, notes }: ReadDraft): void {
  const url = homes.get("url");
  const [, before = "", credentials, after = ""] = /^(https?:\/\/)([^/?#]*)@(.*)$/is.exec(String(url)) ?? [];
  if (credentials === undefined) return;
  homes.set("url", before + after);
  const headers = isRecord(homes.get("headers")) ? (homes.get("headers") as Record<string, unknown>) : {};
  const isTaken = Object.keys(headers).some((name) => /^authorization$/i.test(name));
  if (isTaken || credentials.includes("${")) {
    notes.push(lost("url", "holds a user name or password, which belongs in `headers`"));
    return;
  }
  const basic = Buffer.from(decode(credentials)).toString("base64");
  homes.set("headers", { ...headers, Authorization: `Basic ${basic}` });
  notes.push({
    kind: "translated",
    field: "url",
    message: "its user name and password are now in `headers`",
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
