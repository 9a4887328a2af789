import { setField, takeField } from "./draft.ts";
import { type Rule, textList, texts } from "./fields.ts";

const scopeList = texts("oauth.scopes");

/** Scopes in one string, separated by spaces. */
export const scopeText: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "string") return `\`${field}\` is not a string`;
    const scopes = value.split(/\s+/).filter(Boolean);
    return scopeList.read(scopes, field, draft);
  },
  write: (draft, field) => textList(scopeList.write?.(draft, field))?.join(" "),
};

export const callbackPort: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "number") return `\`${field}\` is not a port number`;
    setField(draft, "oauth.callbackPort", value, field);
    return undefined;
  },
  write: (draft) => takeField(draft, "oauth.callbackPort"),
};

/** `false` turns login off. */
export const noLogin: Rule = {
  read: (_value, field, draft) => {
    setField(draft, "auth", "none", field);
    return undefined;
  },
  write: (draft) => {
    if (draft.config.get("auth") !== "none") return undefined;
    draft.config.delete("auth");
    return false;
  },
};
