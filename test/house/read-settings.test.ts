import { globSync } from "node:fs";
import { relative, resolve } from "node:path";
import ts from "typescript-oldest";
import { expect, it } from "vitest";

/** Where the fields of a configuration are declared. */
const schemas = globSync("src/config/{*schema,approval/schema}.ts");

/** What only copies fields, from and to other clients' files or for people to see, does not make them do anything. */
const copies = /^src\/config\/(?:formats|sync|show)\//;

/** Types as which settings are handed on, as they are. Reading one of their fields is reading the setting. */
const handedOn = [
  ["src/gateway/http/limits.ts", "GatewayLimits", "src/config/gateway-schema.ts"],
  ["src/gateway/http/slow-readers.ts", "SlowReaderLimits", "src/config/gateway-schema.ts"],
  ["src/catalog/names.ts", "Naming", "src/config/gateway-schema.ts"],
  ["src/calls/output/output.ts", "OutputPolicy", "src/config/server-schema.ts"],
] as const;

/** Fields that are read in another way than as a property of the checked configuration. */
const readOtherwise = new Set([
  // For editors.
  "configSchema.$schema",
  // `config/parse.ts` reads them from the document, one entry at a time.
  "configSchema.mcpServers",
  "configSchema.servers",
  "configSchema.bundles",
  // A text for people, shown with the bundle.
  "bundleSchema.description",
  // It has one value only.
  "sandboxProfile.kind",
]);

it("every field of the configuration is read where it could do something", { timeout: 120_000 }, () => {
  const program = openProgram();
  const checker = program.getTypeChecker();
  const fields = declaredFields(program);
  const names = new Set([...fields.values()].flat().map((field) => field.split(".").at(-1)));
  const read = new Set<string>();
  for (const file of globSync("src/**/*.ts")) {
    if (schemas.includes(file) || copies.test(file)) continue;
    visit(source(program, file), (node) => {
      for (const declaration of propertyRead(node, names, checker)?.declarations ?? [])
        for (const field of fields.get(declaration) ?? []) read.add(field);
    });
  }
  const all = new Set([...fields.values()].flat());
  expect([...all].filter((field) => !read.has(field) && !readOtherwise.has(field))).toEqual([]);
  // An exception that is not needed, or is not there, would hide the next field of that name.
  expect([...readOtherwise].filter((field) => read.has(field) || !all.has(field))).toEqual([]);
  expect(read.size).toBeGreaterThan(80);
});

/** The fields, by where they are declared. What is handed on stands for all fields of its name in that schema. */
function declaredFields(program: ts.Program): Map<ts.Node, string[]> {
  const fields = new Map<ts.Node, string[]>();
  for (const schema of schemas) {
    const own: [string, string][] = [];
    visit(source(program, schema), (node) => {
      if (!isField(node)) return;
      const field = pathTo(node);
      own.push([nameOf(node), field]);
      fields.set(node, [field]);
    });
    for (const [file, type, of] of handedOn) {
      if (of !== schema) continue;
      visit(source(program, file), (node) => {
        if (!ts.isPropertySignature(node) || !ts.isInterfaceDeclaration(node.parent)) return;
        if (node.parent.name.text !== type) return;
        fields.set(
          node,
          own.flatMap(([name, field]) => (name === nameOf(node) ? [field] : [])),
        );
      });
    }
  }
  return fields;
}

function openProgram(): ts.Program {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, resolve("."));
  return ts.createProgram(
    globSync("src/**/*.ts").map((file) => resolve(file)),
    { ...options, types: ["node"] },
  );
}

function source(program: ts.Program, file: string): ts.SourceFile {
  const found = program.getSourceFile(resolve(file));
  if (!found) throw new Error(`${relative(".", file)} is not in the program`);
  return found;
}

function visit(node: ts.Node, look: (node: ts.Node) => unknown): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

/** A property of an object schema. */
function isField(node: ts.Node): node is ts.PropertyAssignment {
  if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(node.parent)) return false;
  const { parent } = node.parent;
  if (ts.isCallExpression(parent)) return /strictObject/.test(parent.expression.getText());
  // Fields that several schemas share: `const outputLimits = { … }`.
  return node.initializer.getText().startsWith("field(");
}

/** The constant in which a field is declared, and the fields around it. */
function pathTo(node: ts.Node): string {
  if (ts.isVariableDeclaration(node)) return node.name.getText();
  const outer = pathTo(node.parent);
  return ts.isPropertyAssignment(node) ? `${outer}.${nameOf(node)}` : outer;
}

function nameOf(node: ts.PropertyAssignment | ts.PropertySignature): string {
  return ts.isIdentifier(node.name) || ts.isStringLiteral(node.name) ? node.name.text : node.name.getText();
}

/** The property that this expression or pattern takes from an object, if its name is one of these. */
function propertyRead(
  node: ts.Node,
  names: ReadonlySet<string | undefined>,
  checker: ts.TypeChecker,
): ts.Symbol | undefined {
  const of = (object: ts.Node, name: string) => {
    if (!names.has(name)) return undefined;
    return checker.getPropertyOfType(checker.getNonNullableType(checker.getTypeAtLocation(object)), name);
  };
  if (ts.isPropertyAccessExpression(node)) return of(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return of(node.expression, node.argumentExpression.text);
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken)
    return undefined;
  const key = node.propertyName ?? node.name;
  return ts.isIdentifier(key) || ts.isStringLiteral(key) ? of(node.parent, key.text) : undefined;
}
