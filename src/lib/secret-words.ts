/** What stands in place of a value that is not shown. */
export const hidden = "(hidden)";

const secretWords = /token|secret|passw|passphrase|key|auth|credential|cookie|[_-]pwd$|(?:^|[^a-z])pat$/i;

/**
 * True if the value of a variable, option or header with this name is probably a secret. In doubt it is one: a value that
 * is hidden for nothing costs less than one that is shown.
 */
export function looksSecret(name: string): boolean {
  return secretWords.test(name);
}

/** The same for a parameter of a URL, where codes and signatures open doors as well. */
export function looksSecretParameter(name: string): boolean {
  return looksSecret(name) || /(code|sig|signature)$/i.test(name);
}
