import { Workspace } from "../../../src/config.ts";

/** Adds servers to one shared file and removes every other one again, as fast as it can. */
const [name = "", rounds = "1"] = process.argv.slice(2);
await using workspace = await Workspace.open({});
for (let round = 0; round < Number(rounds); round++) {
  await workspace.add(`${name}-${round}`, { command: name, args: [String(round)] }, { scope: "user" });
  if (round % 2 === 1) await workspace.remove(`${name}-${round}`, "user");
}
