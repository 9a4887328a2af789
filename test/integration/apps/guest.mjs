/** The page of an app, as its author writes it: it knows its server's own names and nothing of a gateway. */
import { App } from "@modelcontextprotocol/ext-apps";

const show = (id, value) => {
  const line = document.createElement("p");
  line.id = id;
  line.textContent = JSON.stringify(value);
  document.body.append(line);
};

const app = new App({ name: "counter", version: "1.0.0" }, {});
app.addEventListener("toolresult", (result) => show("shown", result));
await app.connect();
show("refreshed", await app.callServerTool({ name: "refresh", arguments: { step: 2 } }));
