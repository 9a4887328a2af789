import type { Command } from "commander";
import { PlugboardError } from "../../index.ts";
import { onlyServers, withHub } from "../with-hub.ts";
import { json, safe } from "../terminal/print.ts";
import { profileOption } from "../arguments/profile.ts";
import type { ProfileOptions } from "../arguments/profile.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb("logout", "Delete a stored login, and revoke it if the server supports that.", [
    "logout issues",
    "logout issues --profile work",
  ])
    .argument("<server>", "the server")
    .addOption(profileOption())
    .action(async (name: string, options: ProfileOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        workspace.require(config, name);
        const use = { config: onlyServers(config, [name]), tolerant: true };
        await withHub(terminal, use, workspace, async (hub) => {
          const { wasLoggedIn, revoked } = await hub.logout(name, { profile: options.profile });
          if (!wasLoggedIn) {
            throw new PlugboardError("value-missing", `You are not logged in to "${name}".`, {
              server: name,
              hint: "Run `plugboard get <server>` to see the account.",
            });
          }
          if (options.json) return terminal.out(json({ server: name, loggedOut: true, revoked }));
          const rest = revoked ? "" : " The server did not revoke the login, so its tokens may still work.";
          terminal.out(`Logged out of ${safe(name)}.${rest}\n`);
        });
      }),
    );
}
