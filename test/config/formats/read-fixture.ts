import { readFileSync } from "node:fs";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { formats, type Format, type ReadContext } from "../../../src/config/formats/index.ts";

export function formatOf(id: string): Format {
  return formats.find((format) => format.id === id)!;
}

export function context(given: Partial<ReadContext> = {}): ReadContext {
  return { projectRoot: "/home/ada/app", home: "/home/ada", scope: "user", file: "/some/file", ...given };
}

export function readFixture(format: Format, file: string): unknown {
  const path = new URL(`../../fixtures/formats/${format.id}/${file}`, import.meta.url);
  return parseText(format.syntax, readFileSync(path, "utf8"));
}

function parseText(syntax: Format["syntax"], text: string): unknown {
  if (syntax === "toml") return parseToml(text);
  return syntax === "yaml" ? parseYaml(text) : parseJsonc(text, [], { allowTrailingComma: true });
}
