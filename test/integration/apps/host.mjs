/** A host page: it calls a tool through the gateway and shows the app that belongs to it. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

async function showApp(url, token, tool) {
  const info = { name: "host", version: "1.0.0" };
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client(info, { capabilities: { extensions }, versionNegotiation: { mode: "auto" } });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const chosen = tools.find(({ name }) => name === tool);
  const uri = chosen?._meta?.ui?.resourceUri;
  const { contents } = await client.readResource({ uri });
  const page = contents.find((one) => one.uri === uri);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  document.body.append(frame);
  const view = frame.contentWindow;
  if (!view || !page || !("text" in page)) throw new Error("The app has no page.");
  const bridge = new AppBridge(client, info, { serverTools: {} });
  bridge.addEventListener("initialized", () => {
    const input = { arguments: { start: 1 } };
    void bridge.sendToolInput(input).then(async () => {
      await bridge.sendToolResult(await client.callTool({ name: tool, ...input }));
    });
  });
  await bridge.connect(new PostMessageTransport(view, view));
  frame.srcdoc = page.text;
  return { tools: tools.map(({ name }) => name), uri };
}

Object.assign(globalThis, { showApp });
