/** Remembers that a server in a client's file is one of ours, under which name. */
export interface ClientName {
  client: string;
  file: string;
  /** Its name in that file. */
  theirs: string;
  /** Its name here. */
  ours: string;
}

/** What one file of a client calls our servers. */
export interface NamesThere {
  /** The name of our server there: the remembered one, unless the file only has the other. */
  nameOf(ours: string): string;
  /** True if this pair was remembered: it is one server, even if its two targets differ by now. */
  isKnown(ours: string): boolean;
  /** Another server of ours that has this name there. */
  takenBy(theirs: string, ours: string): string | undefined;
}

/** `configured` are our names: what is remembered of a server that is gone means nothing. */
export function namesThere(
  names: readonly ClientName[],
  { client, file }: Pick<ClientName, "client" | "file">,
  { configured, hasThere }: { configured: ReadonlySet<string>; hasThere: (name: string) => boolean },
): NamesThere {
  const here = names.filter((name) => name.client === client && name.file === file);
  const valid = here.filter(({ ours }) => configured.has(ours));
  const byOurs = new Map(valid.map((name) => [name.ours, name.theirs]));
  const byTheirs = new Map(valid.map((name) => [name.theirs, name.ours]));
  const nameOf = (ours: string) => {
    const theirs = byOurs.get(ours);
    return theirs !== undefined && (hasThere(theirs) || !hasThere(ours)) ? theirs : ours;
  };
  return {
    nameOf,
    isKnown: (ours) => byOurs.get(ours) === nameOf(ours),
    takenBy: (theirs, ours) => {
      const other = byTheirs.get(theirs);
      return other === undefined || other === ours ? undefined : other;
    },
  };
}
