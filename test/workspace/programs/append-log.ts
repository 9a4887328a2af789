import { appendLog } from "../../../src/workspace/logs/log-file.ts";

// Appends numbered lines to a log: append-log.ts <file> <letter> <count>
const [path = "", letter = "", count = ""] = process.argv.slice(2);
for (let at = 0; at < Number(count); at++) appendLog(path, `${letter.repeat(100)} ${at}\n`);
