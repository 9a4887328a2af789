import type { Answer } from "./listener.ts";
import type { Asked } from "./state.ts";

/** Asks a person for consent. `#allow` and `#deny` are its buttons, `#user` chooses who logs in. */
export function consentPage(asked: Asked, form: { action: string; key: string; users: string[] }): Answer {
  const { client, scopes, resource } = asked;
  const users = form.users.map((user) => html`<option>${user}</option>`).join("");
  return page(
    200,
    "Allow access?",
    html`<p>
        <b id="client">${client.client_name ?? client.client_id}</b> asks for access to
        <b id="resource">${resource ?? "this account"}</b>.
      </p>
      <ul id="scopes"></ul>` +
      scopes.map((scope) => html`<li>${scope}</li>`).join("") +
      html`</ul><form method="post" action="${form.action}">
        <input type="hidden" name="request" value="${form.key}">` +
      (form.users.length > 1
        ? `<label>Log in as <select id="user" name="user">${users}</select></label>`
        : "") +
      `<button id="allow" name="decision" value="allow">Allow</button>
      <button id="deny" name="decision" value="deny">Deny</button></form>`,
  );
}

/** Asks for the code that a device shows. */
export function deviceCodePage(action: string): Answer {
  return page(
    200,
    "Connect a device",
    html`<form method="get" action="${action}">
      <label>Code <input id="code" name="user_code" /></label>
    </form>` + `<button id="next">Next</button></form>`,
  );
}

export function messagePage(status: number, title: string, text: string): Answer {
  return page(status, title, html`<p id="message">${text}</p>`);
}

function page(status: number, title: string, body: string): Answer {
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    },
    body:
      html`<!doctype html>
        <html lang="en">
          <meta charset="utf-8" /><title>${title}</title>
          <h1>${title}</h1>
        </html>` + body,
  };
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes whatever is put in. */
function html(texts: TemplateStringsArray, ...values: string[]): string {
  const escaped = values.map((value) => value.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? ""));
  return String.raw({ raw: texts }, ...escaped);
}
