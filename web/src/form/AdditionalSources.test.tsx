// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { useState } from "react";
import { darkroom } from "../../test/darkrooms";
import type { DarkroomInput } from "../api/types";
import { toInput } from "../model/model";
import { troubleOf } from "../words/remedies";
import { AdditionalSources } from "./AdditionalSources";
import { FormContext } from "./fields";

let input: DarkroomInput;

function Form() {
  const [now, setNow] = useState(input);
  const change = (next: DarkroomInput) => {
    input = next;
    setNow(next);
  };
  return (
    <FormContext value={{ input: now, errors: [], warnings: [], missing: [], target: undefined, disabled: false, touch: () => undefined, change }}>
      <AdditionalSources />
    </FormContext>
  );
}

test("a fallback is added, edited and removed; what the form does not show stays", async () => {
  const kept = { name: "kept", path: "/kept", type: "S3", bucket: "b", region: "r", auth: "WorkloadIdentity" } as const;
  input = { ...toInput(darkroom()), additionalSources: [kept] };
  render(<Form />);
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Add a source of other paths, or a fallback" }));
  const last = (label: string) => screen.getAllByRole("textbox", { name: label }).slice(-1);
  for (const [label, text] of [["Name of the source", "old"], ["Base URL", "https://old.example.com"]] as const) {
    for (const field of last(label)) {
      await user.type(field, text);
    }
  }
  expect(input.additionalSources).toEqual([kept, { name: "old", type: "WebFolder", fallback: true, baseUrl: "https://old.example.com" }]);
  expect(input.gate).toEqual({});
  for (const remove of screen.getAllByRole("button", { name: "Remove" }).reverse()) {
    await user.click(remove);
  }
  expect(input).not.toHaveProperty("additionalSources");
});

test("what was read is sent back without where credentials are", () => {
  const source = { name: "old", fallback: true, type: "S3", bucket: "b", region: "r" } as const;
  expect(toInput(darkroom({ additionalSources: [{ ...source, credentials: "inline" }] })).additionalSources).toEqual([source]);
});

test("the problem box leads to the additional source that fails", () => {
  const message = "GET /a.jpg?w=16: HTTP 403: additional source old: the source denies access to this image. Check old in spec.additionalSources.";
  const failing = darkroom({
    additionalSources: [
      { name: "new", path: "/new", type: "WebFolder", baseUrl: "https://example.com" },
      { name: "old", fallback: true, type: "CloudFront", host: "d1.cloudfront.net" },
    ],
    status: {
      ...darkroom().status,
      phase: "Degraded",
      message,
      conditions: [{ type: "Ready", status: "False", reason: "SourceDenied", message, lastTransitionTime: "2026-01-01T00:00:00Z" }],
    },
  });
  expect(troubleOf(failing)?.remedies.map(({ field }) => field)).toEqual(["additionalSources.1.credentialsSecretRef.name", "additionalSources.1.host"]);
});
