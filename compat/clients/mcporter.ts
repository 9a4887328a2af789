import { gatewayName, script, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const mcporter: CompatClient = {
  id: "mcporter",
  title: "mcporter",
  package: "mcporter",
  program: { name: "mcporter", command: script("mcporter/dist/cli.js") },
  hasModel: false,
  async use({ scene, target, tool }) {
    const add = ["mcporter", "config", "add", gatewayName];
    const words =
      target.transport === "stdio"
        ? [
            ...add,
            "--command",
            target.command[0] ?? "",
            ...target.command.slice(1).flatMap((word) => ["--arg", word]),
          ]
        : [...add, target.url, "--header", `Authorization=Bearer \${${target.tokenVariable}}`];
    await scene.run([...words, "--scope", "home"]);
    const list = await scene.run(["mcporter", "list", gatewayName, "--json"]);
    const args = JSON.stringify(tool.args);
    const call = await scene.run([
      "mcporter",
      "call",
      "--server",
      gatewayName,
      "--tool",
      tool.name,
      "--args",
      args,
    ]);
    return {
      configured: typed(words, target),
      listed: list.out.includes(`"${tool.name}"`),
      answer: call.out,
    };
  },
};
