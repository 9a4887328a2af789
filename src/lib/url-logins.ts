/** What must not be repeated of the URLs in a text: `user:password`, and the password as it is written and as it is sent. */
export function loginsIn(text: string): string[] {
  const urls = text.matchAll(/[a-z][a-z\d+.-]*:\/\/([^@/?#\s]+|[^@/?#\s:]*:[^@\s]+)@/gi);
  return [...urls].flatMap(([, login = ""]) => {
    const password = login.includes(":") ? login.slice(login.indexOf(":") + 1) : "";
    return [login, password, decoded(password)].filter(Boolean);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
