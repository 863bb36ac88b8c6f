import { stringify } from "yaml";
import type { Darkroom } from "../api/types";
import { toInput, toManifest } from "../model/model";
import { Code } from "./Code";

/** The resource as kubectl would apply it, without write-only fields. */
export default function YamlText({ darkroom }: { darkroom: Darkroom }) {
  const text = stringify(toManifest(toInput(darkroom)), { lineWidth: 0 });
  return <Code id="resource" label="Resource" copyLabel="Copy resource" text={text} note="Keys and literal values of environment variables are never shown." />;
}
