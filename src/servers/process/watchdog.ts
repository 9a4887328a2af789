import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";

export interface WatchdogOptions {
  /** Found in the environment of every process to be killed. */
  marker: string;
  /** A file to delete when no process is left. */
  record: string | undefined;
  onProblem(message: string): void;
}

/**
 * A small shell process that briefly outlives us. It reads process groups from a pipe. When the pipe closes, for
 * whatever reason we exited, it ends those groups and every process that carries the marker. This needs no signal
 * handler in our process, so it works for SIGKILL too.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;
  #closing = false;
  #starts = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Must run before the first server is started, so that no server is ever unwatched. */
  start(): void {
    if (this.#child !== undefined || this.#closing || this.#starts >= maxStarts) return;
    this.#starts++;
    const child = spawn(
      "/bin/sh",
      ["-c", script, "plugboard-watchdog", this.#options.marker, this.#options.record ?? ""],
      {
        detached: true,
        cwd: "/",
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        stdio: ["pipe", "ignore", "ignore"],
      },
    );
    this.#child = child;
    child.on("error", (error) => this.#lost(child, error.message));
    child.on("exit", () => this.#lost(child, "it ended"));
    this.#child.stdin?.on("error", () => undefined);
    // The watchdog must not keep our process alive.
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    for (const group of this.#groups) this.#tell("+", group);
  }

  watch(group: number): void {
    this.#groups.add(group);
    this.#tell("+", group);
  }

  forget(group: number): void {
    if (this.#groups.delete(group)) this.#tell("-", group);
  }

  /** Closes the pipe and waits until the watchdog has cleaned up and exited. */
  async close(graceMs = 10_000): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    const gone = once(child, "exit");
    child.stdin?.end();
    await gone;
    clearTimeout(timer);
  }

  #tell(sign: "+" | "-", group: number): void {
    this.#child?.stdin?.write(`${sign} ${group}\n`);
  }

  #lost(child: ChildProcess, reason: string): void {
    if (this.#child !== child || this.#closing) return;
    this.#child = undefined;
    this.#options.onProblem(`The watchdog for the servers' processes stopped unexpectedly (${reason}).`);
    if (this.#groups.size > 0) this.start();
  }
}

const maxStarts = 5;

/**
 * POSIX sh, builtins where possible. $1 is the marker, $2 the record. To kill, groups 0 and 1 would mean "mine"
 * and "everybody", so they are rejected.
 */
const script = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r sign group; do
  case $group in ''|*[!0-9]*|0|1) continue ;; esac
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
marked() {
  # Not yet tested: the branch without /proc, for macOS.
  if [ -d /proc/self ]; then
    grep -lsaF -e "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
  else
    ps -Aww -E -o pid=,command= 2>/dev/null | while read -r pid command; do
      case $command in *plugboard-watchdog*) ;; *"$1"*) echo "$pid" ;; esac
    done
  fi
}
strike() {
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null; done
  # A second SIGTERM keeps npm from removing what it began to install.
  for pid in $(marked "$marker"); do grouped "$pid" || kill -s "$1" "$pid" 2>/dev/null; done
}
grouped() {
  line=; read -r line 2>/dev/null < "/proc/$1/stat" || return 1
  set -- \${line##*) }
  case $groups in *" $3 "*) return 0 ;; esac
  return 1
}
in_groups() {
  for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && set -- found; done
  [ "$#" -gt 0 ] || return 1
  [ -d /proc/self ] || return 0
  # Zombies that nobody collects, as in a container without an init, do not count.
  for stat in /proc/[0-9]*/stat; do
    line=; read -r line 2>/dev/null < "$stat" || continue
    set -- \${line##*) }
    case $1 in [ZX]) continue ;; esac
    case $groups in *" $3 "*) return 0 ;; esac
  done
  return 1
}
alive() { in_groups || [ -n "$(marked "$marker")" ]; }
leave_if_done() {
  alive && return
  [ -n "$record" ] && rm -f -- "$record"
  exit 0
}
nap() { sleep 0.1 2>/dev/null || sleep 1; }
marker=$1 record=$2
leave_if_done
strike TERM
for _ in 1 2 3 4 5 6 7 8 9 10; do nap; leave_if_done; done
for _ in 1 2 3 4 5 6 7 8 9 10; do strike KILL; nap; leave_if_done; done
`;
