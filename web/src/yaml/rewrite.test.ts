import fc from "fast-check";
import { expect, test } from "vitest";
import { inputs } from "../../test/arbitraries";
import { same } from "../model/merge";
import { withValue, type Path } from "../model/model";
import { rewrite } from "./rewrite";
import { read, write } from "./text";

const text = `# Owned by the cats team.
apiVersion: deployments.example.com/v1alpha1
kind: Darkroom
metadata: {name: cats, namespace: photos}

spec:
  replicas: 1 # raise before Friday

  # the old bucket
  source:
    type: S3
    bucket: 'cats'
    # not Frankfurt
    region: "eu-west-2"
  subDomains:
  - cats # first
  # for the marketing site
  - kittens
  ingress:
    className: nginx
# The end.
`;

function inputOf(from: string) {
  const result = read(from);
  if ("error" in result) {
    throw new Error(`${result.error.message}: ${from}`);
  }
  return result.input;
}

const changed = (path: Path, value: unknown) => rewrite(text, withValue(inputOf(text), path, value));

test.each<[Path, unknown, string, string]>([
  [["replicas"], 3, "replicas: 1 # raise", "replicas: 3 # raise"],
  [["name"], "dogs", "{name: cats, namespace: photos}", "{name: dogs, namespace: photos}"],
  [["source", "bucket"], "dogs", "bucket: 'cats'", "bucket: 'dogs'"],
  [["subDomains"], ["cats", "kittens", "pets"], "  - kittens\n", "  - kittens\n  - pets\n"],
  [["subDomains"], ["kittens"], "  - cats # first\n", ""],
  [["ingress", "className"], undefined, "  ingress:\n    className: nginx\n", ""],
  [["source", "endpoint"], "https://s3", '    region: "eu-west-2"\n', '    region: "eu-west-2"\n    endpoint: https://s3\n'],
  [["probe"], { path: "/a" }, "    className: nginx\n", "    className: nginx\n  probe:\n    path: /a\n"],
])("changing %j to %j changes its lines alone", (path, value, before, after) => {
  expect(text).toContain(before);
  expect(changed(path, value)).toBe(text.replace(before, after));
});

test("a text that has the input is left as it is", () => {
  expect(rewrite(text, inputOf(text))).toBe(text);
});

test("aliases are resolved where they would change another field", () => {
  const shared = write(inputOf(text)).replace("region: eu-west-2", "region: &r eu-west-2\n    endpoint: *r");
  const input = withValue(inputOf(shared), ["source", "region"], "eu-west-1");
  expect(inputOf(rewrite(shared, input))).toEqual(input);
});

test("what is written is read back the same", () => {
  fc.assert(fc.property(inputs, (input) => same(inputOf(write(input)), input)));
});

test("a rewritten text always has the new input", () => {
  fc.assert(
    fc.property(inputs, inputs, (before, after) => {
      expect(same(inputOf(rewrite(write(before), after)), after)).toBe(true);
    }),
  );
});

test("changing one number changes one line, and no comment is lost", () => {
  fc.assert(
    fc.property(inputs, fc.infiniteStream(fc.boolean()), (input, choose) => {
      const lines = write({ ...input, replicas: 1 }).trimEnd().split("\n");
      // Lines of texts over several lines have no comments.
      const plain = lines.every((line) => /^\s*(- )?[\w./-]+:|^\s*- /.test(line)) && !/[|>][-+]?\d?$/m.test(lines.join("\n"));
      fc.pre(plain);
      const commented = lines.flatMap((line, i) => (choose.next().value ? [`${/^\s*/.exec(line)?.[0] ?? ""}# comment ${i}`, line] : [line]));
      const next = rewrite(commented.join("\n") + "\n", { ...input, replicas: 2 });
      const at = commented.findIndex((line) => line.startsWith("  replicas:"));
      expect(next.trimEnd().split("\n")).toEqual(commented.with(at, "  replicas: 2"));
    }),
  );
});
