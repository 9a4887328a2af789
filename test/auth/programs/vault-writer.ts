import { Workspace } from "../../../src/config.ts";

/** Waits for the word, then keeps its own secrets as fast as it can; tells where each went and what it was warned of. */
const [home = "", who = "", times = "1"] = process.argv.slice(2);
const warnings: string[] = [];
const workspace = await Workspace.open({
  cwd: home,
  env: { HOME: home },
  onWarning: (message) => warnings.push(message),
});
const vault = await workspace.vault();

process.once("message", () => void write());
process.send?.("ready");

async function write(): Promise<void> {
  const places: string[] = [];
  const values: unknown[] = [];
  for (let turn = 0; turn < Number(times); turn++) {
    places.push(await vault.set(`secret/${who}-${turn}`, `value-${who}-${turn}`));
    values.push(await vault.get(`secret/${who}-${turn}`));
  }
  await workspace.close();
  process.send?.({ places, values, warnings }, () => process.disconnect());
}
