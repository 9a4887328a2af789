import { readdir, readFile, readlink } from "node:fs/promises";

/** The ids of all processes; empty where there is no /proc. */
export async function processIds(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
}

/** A file of a process; undefined if it is gone or belongs to another user. */
export async function readProc(pid: number, name: string): Promise<string | undefined> {
  return await readFile(`/proc/${pid}/${name}`, "latin1").catch(() => undefined);
}

/** The words of a process's command line, or of the title that it gave itself. */
export async function processWords(pid: number): Promise<string[]> {
  const words = ((await readProc(pid, "cmdline")) ?? "").split("\0").filter(Boolean);
  const [title = ""] = words;
  return (words.length === 1 ? title.split(" ") : words).map((word) =>
    Buffer.from(word, "latin1").toString("utf8"),
  );
}

/** The names of the files and sockets that a process has open, with its working folder. */
export async function openFiles(pid: number): Promise<string[]> {
  const numbers = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = [...numbers.map((number) => `fd/${number}`), "cwd"];
  return Promise.all(links.map((link) => readlink(`/proc/${pid}/${link}`).catch(() => "")));
}
