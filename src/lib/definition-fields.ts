/** What models and people go by in a definition, in the order in which it is shown. Everything else comes after it. */
export const mainFields: readonly string[] = [
  "name",
  "uriTemplate",
  "title",
  "description",
  "annotations",
  "inputSchema",
  "arguments",
  "outputSchema",
];

/** True for the path of a place that is never left out where a definition or a change of it is shown. */
export function isMainField(path: string): boolean {
  return (
    path === "" ||
    mainFields.some((name) => path.startsWith(name) && /^(?:$|[.[])/.test(path.slice(name.length)))
  );
}
