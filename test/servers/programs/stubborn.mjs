// Ignores the end of its input and every polite signal.
import { serve } from "./rpc.mjs";

for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => undefined);
setInterval(() => undefined, 1000);
serve({ onEnd: () => undefined });
