import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createValidator } from "../src/host.ts";

/**
 * Runs our validator on a checkout of json-schema-org/JSON-Schema-Test-Suite:
 * `node scripts/json-schema-suite.ts <checkout>`. Fails on any test that is not listed here as unsupported.
 */
const [suite = "."] = process.argv.slice(2);

/** Tests that need the network, a custom dialect, or dynamic scope across embedded resources. */
const beyond =
  /^(refRemote|vocabulary|dynamicRef|recursiveRef)\.json|metaschema|\$dynamicRef|\$recursiveRef|remote ref, containing|sibling \$id|\$id inside an enum/;

interface Group {
  description: string;
  schema: object | boolean;
  tests: { description: string; data: unknown; valid: boolean }[];
}

for (const draft of ["draft6", "draft7", "draft2019-09", "draft2020-12"]) {
  const { passed, excused, failures } = run(join(suite, "tests", draft), draft);
  console.log(`${draft}: ${passed} passed, ${failures.length} failed, ${excused} unsupported`);
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

function run(folder: string, draft: string) {
  const failures: string[] = [];
  let passed = 0;
  let excused = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    for (const { description, schema, tests } of JSON.parse(
      readFileSync(join(folder, file), "utf8"),
    ) as Group[]) {
      const isOld = /draft[67]/.test(draft) && typeof schema === "object";
      const validate = createValidator(isOld ? { ...schema, $schema: `draft-0${draft.slice(5)}` } : schema);
      for (const test of tests) {
        const name = `${file}: ${description}: ${test.description}`;
        if ((validate(test.data).length === 0) === test.valid) passed++;
        else if (beyond.test(name)) excused++;
        else failures.push(name);
      }
    }
  }
  return { passed, excused, failures };
}
