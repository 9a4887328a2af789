import { png } from "./content.ts";
import { RpcFailure, type Era, type Fields } from "./wire.ts";

export const resources: Fields[] = [
  { uri: "test://static-text", name: "static-text", description: "A text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static-binary", description: "An image", mimeType: "image/png" },
  {
    uri: "test://watched-resource",
    name: "watched-resource",
    description: "Changes",
    mimeType: "text/plain",
  },
];

export const templates: Fields[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "The data of an id",
    mimeType: "application/json",
  },
];

export function readResource(uri: string, era: Era): Fields {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: "application/json", text: data };
  }
  switch (uri) {
    case "test://static-text":
      return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
    case "test://static-binary":
      return { uri, mimeType: "image/png", blob: png };
    case "test://watched-resource":
      return { uri, mimeType: "text/plain", text: "This resource can be watched." };
    default:
      // Earlier revisions have a code of its own for this.
      throw new RpcFailure(era === "modern" ? -32602 : -32002, "Resource not found", { uri });
  }
}
