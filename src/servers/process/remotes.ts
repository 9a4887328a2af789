import { openFiles, readProc } from "../../lib/proc.ts";

/** The other end of a connection. */
export interface Remote {
  address: string;
  /** False while it does not answer at all. */
  isOpen: boolean;
  /** It is asked for the address of another host. */
  isNameServer: boolean;
}

/** Where processes have network connections to, or ask for one. */
export async function remotesOf(pids: readonly number[]): Promise<Remote[]> {
  const files = (await Promise.all(pids.map(openFiles))).flat();
  const sockets = new Set(files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []));
  const [first] = pids;
  if (sockets.size === 0 || first === undefined) return [];
  const tables = await Promise.all(
    ["tcp", "tcp6", "udp", "udp6"].map((name) => readProc(first, `net/${name}`)),
  );
  const rows = tables.flatMap((table, index) =>
    (table ?? "").split("\n").map((line) => ({ fields: line.trim().split(/\s+/), isUdp: index > 1 })),
  );
  const found = rows.flatMap(({ fields, isUdp }): Remote[] => {
    const [, , remote = "", state = "", , , , , , inode = ""] = fields;
    const { host, port } = endpoint(remote);
    if (!sockets.has(inode) || port === 0 || (isUdp && port !== namePort)) return [];
    if (state !== established && state !== connecting) return [];
    const address = `${host}:${port}`;
    return [{ address, isOpen: state === established && !isUdp, isNameServer: isUdp }];
  });
  return [...new Map(found.map((one) => [one.address, one])).values()];
}

const established = "01";
const connecting = "02";
const namePort = 53;

/** The kernel prints addresses as groups of four bytes, each in the byte order of the machine. */
function endpoint(text: string): { host: string; port: number } {
  const [address = "", port = "0"] = text.split(":");
  const groups = address.match(/.{8}/g) ?? [];
  const bytes = groups.flatMap((group) => [...Buffer.from(group, "hex")].reverse());
  return { host: hostOf(bytes), port: Number.parseInt(port, 16) };
}

function hostOf(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (isMapped) return bytes.slice(12).join(".");
  const words = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return `[${words.join(":")}]`;
}
