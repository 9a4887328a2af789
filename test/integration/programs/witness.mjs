// Preloaded into a command: writes down every process it starts and every connection it opens.
import childProcess from "node:child_process";
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const note = (what) => appendFileSync(process.env.WITNESS_FILE, `${what}\n`);

for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
  const original = childProcess[name];
  childProcess[name] = (...args) => {
    note(`${name} ${String(args[0])}`);
    return original(...args);
  };
}
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function witnessed(...args) {
  note(`connect ${JSON.stringify(args[0])}`);
  return connect.apply(this, args);
};
const { lookup } = dns;
dns.lookup = (host, ...rest) => {
  note(`lookup ${host}`);
  return lookup(host, ...rest);
};
syncBuiltinESMExports();
