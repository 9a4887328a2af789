import type { Account } from "../../index.ts";

/** `ada at https://login.example (work), read write, renewed by itself`. */
export function accountLine(account: Account, now: number): string {
  const { user, issuer, profile, scopes } = account;
  const who = `${user ?? "somebody"} at ${issuer}${profile === "default" ? "" : ` (${profile})`}`;
  return [who, ...(scopes.length > 0 ? [scopes.join(" ")] : []), until(account, now)].join(", ");
}

function until({ ended, renewable, expiresAt }: Account, now: number): string {
  if (ended) return "over: log in again";
  if (renewable) return "renewed by itself";
  if (expiresAt === undefined) return "for as long as the server says";
  const minutes = Math.max(0, Math.round((expiresAt - now) / 60_000));
  return `until ${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC (${minutes} min)`;
}
