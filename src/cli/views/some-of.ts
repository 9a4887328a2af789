const most = 8;

/** The first of many names, and how many there are besides: a project can have thousands. */
export function someOf(names: readonly string[]): string {
  const rest = names.length - most;
  return rest > 0
    ? `${names.slice(0, most).join(", ")} and ${rest.toLocaleString("en")} more`
    : names.join(", ");
}
