// What a daemonizing server leaves behind.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => undefined);
setInterval(() => undefined, 1000);
process.send("out");
