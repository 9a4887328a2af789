/** Only its types are used: the adapter makes plain objects. */
export const sdk = { name: "openai", supported: /^7\./, install: "openai@7" };
