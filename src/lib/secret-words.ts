/** Shown instead of a secret value. */
export const hidden = "(hidden)";

const secretWords = /token|secret|passw|passphrase|key|auth|credential|cookie|[_-]pwd$|(?:^|[^a-z])pat$/i;

/**
 * True if the value of a variable, option or header with this name is probably a secret. When in doubt, it is: hiding a
 * harmless value costs less than showing a secret.
 */
export function looksSecret(name: string): boolean {
  return secretWords.test(name);
}

/** The same for a URL parameter, where codes and signatures are secrets too. */
export function looksSecretParameter(name: string): boolean {
  return looksSecret(name) || /(code|sig|signature)$/i.test(name);
}
