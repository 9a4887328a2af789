// Greets on stdout, talks between messages and floods stderr before it serves.
import { writeSync } from "node:fs";
import { serve } from "./rpc.mjs";

process.stdout.write("Welcome to Noisy 1.0!\n\nlistening on stdio\r\n\u001b[31mred\u001b[0m\n");
const line = Buffer.from(`${"stderr noise ".repeat(80)}\n`.repeat(60));
for (let written = 0; written < Number(process.argv[2] ?? 4_000_000); written += line.length)
  writeSync(2, line);
writeSync(2, "last words\n");
serve();
