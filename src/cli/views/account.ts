import type { Account } from "../../index.ts";

/** `ada at https://login.example (work), read write, renews automatically`. */
export function accountLine(account: Account, now: number): string {
  const { user, issuer, profile, scopes } = account;
  const who = `${user ?? "unknown user"} at ${issuer}${profile === "default" ? "" : ` (${profile})`}`;
  return [who, ...(scopes.length > 0 ? [scopes.join(" ")] : []), until(account, now)].join(", ");
}

function until({ ended, renewable, expiresAt }: Account, now: number): string {
  if (ended) return "expired: log in again";
  if (renewable) return "renews automatically";
  if (expiresAt === undefined) return "no known expiry";
  const minutes = Math.max(0, Math.round((expiresAt - now) / 60_000));
  return `until ${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC (${minutes} min)`;
}
