import { settle, take } from "./draft.ts";
import { type Rule, textList, texts } from "./fields.ts";

const scopeList = texts("oauth.scopes");

/** Scopes as one text with spaces in between. */
export const scopeText: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "string") return `\`${field}\` is not a text`;
    const scopes = value.split(/\s+/).filter(Boolean);
    return scopeList.read(scopes, field, draft);
  },
  write: (draft, field) => textList(scopeList.write?.(draft, field))?.join(" "),
};

export const callbackPort: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "number") return `\`${field}\` is not a port`;
    settle(draft, "oauth.callbackPort", value, field);
    return undefined;
  },
  write: (draft) => take(draft, "oauth.callbackPort"),
};

/** `false` forbids a login. */
export const noLogin: Rule = {
  read: (_value, field, draft) => {
    settle(draft, "auth", "none", field);
    return undefined;
  },
  write: (draft) => {
    if (draft.homes.get("auth") !== "none") return undefined;
    draft.homes.delete("auth");
    return false;
  },
};
