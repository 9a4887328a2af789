/** True for `/mcp__server__prompt …`, or `/server__prompt …` if ids are written like that; not for a path. */
export function isPromptLine(line: string): boolean {
  return /^\/[\w.-]+__[^/\s]/.test(line);
}
