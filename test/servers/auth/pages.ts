import type { Answer } from "./listener.ts";
import type { Asked, AuthState } from "./state.ts";

interface Form {
  action: string;
  /** Which request is decided about. */
  key: string;
  /** A name that was typed and that nobody has. */
  unknown?: string | undefined;
}

/** Asks a person for consent. `#allow` and `#deny` are its buttons, `#user` says who logs in. */
export function consentPage(state: AuthState, asked: Asked, { action, key, unknown }: Form): Answer {
  const { client, scopes, resource } = asked;
  return page(
    unknown === undefined ? 200 : 400,
    "Allow access?",
    html`<p>
        <b id="client">${client.client_name ?? client.client_id}</b> asks for access to
        <b id="resource">${resource ?? "this account"}</b>.
      </p>
      <ul id="scopes">
        ${scopes.map((scope) => html`<li>${scope}</li>`)}
      </ul>
      ${unknown === undefined ? "" : html`<p id="message">Nobody here is called ${unknown}.</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="request" value="${key}" />
        ${userField(state)}
        <button id="allow" name="decision" value="allow">Allow</button>
        <button id="deny" name="decision" value="deny">Deny</button>
      </form>`,
  );
}

function userField({ users, options }: AuthState): Markup | string {
  if (options.userField === "typed") {
    return html`<p>
      <label>User name <input id="user" name="user" autocomplete="off" /></label>
    </p>`;
  }
  if (users.length < 2) return "";
  return html`<p>
    <label
      >Log in as
      <select id="user" name="user">
        ${users.map((user) => html`<option>${user}</option>`)}
      </select></label
    >
  </p>`;
}

/** Asks for the code that a device shows. */
export function deviceCodePage(action: string): Answer {
  return page(
    200,
    "Connect a device",
    html`<form method="get" action="${action}">
      <label>Code <input id="code" name="user_code" autocomplete="off" /></label>
      <button id="next">Next</button>
    </form>`,
  );
}

export function messagePage(status: number, title: string, text: string): Answer {
  return page(status, title, html`<p id="message">${text}</p>`);
}

function page(status: number, title: string, body: Markup): Answer {
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <style>
          :root {
            color-scheme: light dark;
          }
          body {
            font: 1.1rem system-ui;
            margin: 10vh auto;
            max-width: 34rem;
            padding: 0 1rem;
          }
          button,
          input,
          select {
            font: inherit;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`;
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
    },
    body: markup,
  };
}

/** Text that is HTML already. */
interface Markup {
  markup: string;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes whatever is put in, unless it comes from here. */
function html(texts: TemplateStringsArray, ...values: (string | Markup | Markup[])[]): Markup {
  const markupOf = (value: string | Markup): string =>
    typeof value === "string" ? value.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? "") : value.markup;
  const escaped = values.map((value) => (Array.isArray(value) ? value : [value]).map(markupOf).join(""));
  return { markup: String.raw({ raw: texts }, ...escaped) };
}
