import { diffLines, type DiffLine } from "./diff";

/** The change of one object. */
export interface ObjectChange {
  /** Kind and name, such as Deployment photos. */
  name: string;
  action: "created" | "changed" | "deleted";
  lines: DiffLine[];
}

/** The objects of manifests in YAML, by kind and name. */
function objectsOf(manifests: string): Map<string, string> {
  const out = new Map<string, string>();
  for (const text of manifests.split(/^---.*\n/m)) {
    if (text.trim() !== "") {
      const kind = /^kind: (.+)$/m.exec(text)?.[1] ?? "Object";
      const name = /^metadata:\n(?: .*\n)*? {2}name: "?(.+?)"?$/m.exec(text)?.[1] ?? "";
      out.set(`${kind} ${name}`.trim(), text);
    }
  }
  return out;
}

/** The name of an object without the digest of its content, with which the names of ConfigMaps and Secrets end. */
const stem = (name: string): string => name.replace(/-[0-9a-f]{10}$/, "");

/** The objects that differ between two manifests. Names that differ only in the digest mean the same object. */
export function objectChanges(before: string, after: string): ObjectChange[] {
  const [old, next] = [objectsOf(before), objectsOf(after)].map(
    (objects) => new Map([...objects].map(([name, text]) => [stem(name), text])),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...next.keys(), ...old.keys()])].flatMap((name) => {
    const [was = "", is = ""] = [old.get(name), next.get(name)];
    return was === is ? [] : [{ name, action: was === "" ? "created" : is === "" ? "deleted" : "changed", lines: diffLines(was, is) } as const];
  });
}
