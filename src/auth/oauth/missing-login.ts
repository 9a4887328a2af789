import { setTimeout as sleep } from "node:timers/promises";
import type { PlugboardError } from "../../errors.ts";
import { canBeClient, cannotRegister } from "./client.ts";
import { discover } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import type { Challenge } from "../challenge.ts";
import { wantsLogin } from "./token-refresh.ts";
import type { RefreshSettings } from "./token-refresh.ts";

const patienceMs = 5_000;

/** There is no login. Who could give one is looked up first, in public documents, to say what has to be done. */
export async function missingLogin(
  settings: RefreshSettings & { url: URL },
  challenge: Challenge,
): Promise<PlugboardError> {
  const { server, url, oauth, withFetch } = settings;
  const wanted = wantsLogin(settings, `"${server}" wants a login (HTTP 401).`);
  const looking = withFetch((fetch) => discover({ server, url, issuer: oauth.issuer, fetch }, challenge));
  // What is wrong with the documents is said by the login itself.
  const found = await Promise.race<Discovery | void>([
    looking.catch(() => undefined),
    sleep(patienceMs, undefined, { ref: false }),
  ]);
  if (!found || canBeClient(oauth, found)) return wanted;
  return cannotRegister(server, found.issuer, "");
}
