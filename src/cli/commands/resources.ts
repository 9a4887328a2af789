import type { Command } from "commander";
import type { View } from "../../index.ts";
import { runList } from "../list-verb.ts";
import type { ListOptions } from "../list-verb.ts";
import { listedText } from "../views/listed.ts";
import type { Listed } from "../views/listed.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { serverVerb } from "../server-verb.ts";

export function command(terminal: Terminal): Command {
  return serverVerb("resources", "List the resources and resource templates that servers offer.", [
    "resources",
    "resources files",
    "resources --refresh --json",
    "resources --command 'npx -y @modelcontextprotocol/server-everything'",
  ])
    .argument("[server]", "only this server")
    .option("--refresh", "ask the servers instead of using remembered lists")
    .action(async (server: string | undefined, options: ListOptions) => {
      const show = async (view: View, mark?: string) => {
        const resources = await view.resources({ wait: false });
        const templates = await view.resourceTemplates({ wait: false });
        const value = { resources, resourceTemplates: templates };
        const listed = [...resources.map(toListed("uri")), ...templates.map(toListed("uriTemplate"))];
        const isNamed = ({ name }: Listed) => name !== "";
        const text = listedText(listed.filter(isNamed), "resource", terminal, mark);
        return { value, text, nothing: "No resources.\n" };
      };
      await runList({ server, options, kinds: ["resources", "resourceTemplates"], show }, terminal);
    });
}

type Entry = Awaited<ReturnType<View["resources"]>>[number];

function toListed(key: "uri" | "uriTemplate"): (entry: Entry) => Listed {
  return ({ server, raw }) => {
    const [uri, title, name, type, description] = [key, "title", "name", "mimeType", "description"].map(
      (field) => (typeof raw[field] === "string" ? raw[field] : ""),
    );
    const called = title || name;
    // The end of an address says the same as most names.
    const isSaid = called !== undefined && uri?.endsWith(`/${called}`);
    const about = [key === "uriTemplate" && "template", !isSaid && called, type, description];
    return { server, name: uri ?? "", about: about.filter(Boolean).join(", ") };
  };
}
