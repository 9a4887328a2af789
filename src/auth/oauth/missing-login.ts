import { setTimeout as sleep } from "node:timers/promises";
import type { PlugboardError } from "../../errors.ts";
import { canBeClient, cannotRegister } from "./client.ts";
import { discover } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import type { Challenge } from "../challenge.ts";
import { requiresLogin } from "./token-refresh.ts";
import type { RefreshSettings } from "./token-refresh.ts";

const lookupTimeoutMs = 5_000;

/** The error for a server without a login. Looks up its authorization server first, to tell the user what to do. */
export async function missingLogin(
  settings: RefreshSettings & { url: URL },
  challenge: Challenge,
): Promise<PlugboardError> {
  const { server, url, oauth, withFetch } = settings;
  const required = requiresLogin(settings, `"${server}" requires a login (HTTP 401).`);
  const looking = withFetch((fetch) =>
    discover({ server, url, issuer: oauth.issuer, resource: oauth.resource, fetch }, challenge),
  );
  // Problems with the metadata are reported by the login itself.
  const found = await Promise.race<Discovery | void>([
    looking.catch(() => undefined),
    sleep(lookupTimeoutMs, undefined, { ref: false }),
  ]);
  if (!found || canBeClient(oauth, found)) return required;
  return cannotRegister(server, found.issuer, "");
}
