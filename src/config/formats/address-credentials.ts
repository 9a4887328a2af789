import { isRecord } from "../../lib/record.ts";
import { lost, type ReadDraft } from "./draft.ts";

/** Plugboard refuses `https://user:password@host`, so the credentials move to an `Authorization` header. */
export function moveCredentials({ config, notes }: ReadDraft): void {
  const url = config.get("url");
  const [, before = "", credentials, after = ""] = /^(https?:\/\/)([^/?#]*)@(.*)$/is.exec(String(url)) ?? [];
  if (credentials === undefined) return;
  config.set("url", before + after);
  const headers = isRecord(config.get("headers")) ? (config.get("headers") as Record<string, unknown>) : {};
  const isTaken = Object.keys(headers).some((name) => /^authorization$/i.test(name));
  if (isTaken || credentials.includes("${")) {
    notes.push(lost("url", "contains a user name or password, which belongs in `headers`"));
    return;
  }
  const basic = Buffer.from(decode(credentials)).toString("base64");
  config.set("headers", { ...headers, Authorization: `Basic ${basic}` });
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
