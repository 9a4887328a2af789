import { openKeychain } from "../../../src/auth/vault/keychain.ts";

/** Asks the keychain of this session once, and waits for the answer as long as it is told to. */
const [deadlineMs = "3000"] = process.argv.slice(2);
await openKeychain(process.env, { deadlineMs: Number(deadlineMs) })?.read("vault-key/x");
