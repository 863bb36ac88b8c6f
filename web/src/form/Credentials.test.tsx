// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { useState } from "react";
import { hasFocus } from "../../test/focus";
import type { Access, DarkroomInput, NewSecret } from "../api/types";
import { Credentials } from "./Credentials";
import { FormContext } from "./fields";
import type { WithCredentials } from "./secrets";

let access: Access;
let created: NewSecret[];
let asked: string[];
/** The response to a new Secret, unless it is created. */
let refusal: { status: number; title: string; detail: string } | undefined;
let input: DarkroomInput;

const reply = (status: number, body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status }));

beforeEach(() => {
  access = { create: true, update: true, delete: true, image: true, log: true, createSecret: true };
  created = [];
  asked = [];
  refusal = undefined;
  input = { name: "cats", namespace: "photos", source: { type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "" } }, subDomains: ["cats"] };
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    asked.push(path);
    if (path.startsWith("/access")) {
      return reply(200, access);
    }
    if (init.method === "POST") {
      if (refusal) {
        return reply(refusal.status, refusal);
      }
      const body = JSON.parse(init.body as string) as NewSecret;
      created.push(body);
      return reply(201, { name: body.name, type: "Opaque", keys: ["accessKey", "secretKey"] });
    }
    return reply(404, {});
  });
});

function Form({ type }: { type: WithCredentials }) {
  const [now, setNow] = useState(input);
  return (
    <FormContext
      value={{
        input: now,
        errors: [],
        warnings: [],
        missing: [],
        target: undefined,
        disabled: false,
        touch: () => undefined,
        change: (next) => {
          input = next;
          setNow(next);
        },
      }}
    >
      <Credentials type={type} loaded={undefined} />
    </FormContext>
  );
}

function show(type: WithCredentials = "S3") {
  render(<Form type={type} />);
  return userEvent.setup();
}

const secret = () => screen.findByRole("textbox", { name: "Secret" });

test("the name of a Secret is typed, and the keys that it must have are shown", async () => {
  const user = show();
  screen.getByText("Name of a Secret in the same namespace with accessKey and secretKey");
  await user.type(await secret(), "keys");
  expect(input.source.credentialsSecretRef).toEqual({ name: "keys" });
});

test("other entries of the Secret can be named", async () => {
  input.source.credentialsSecretRef = { name: "other" };
  const user = show();
  await user.click(screen.getByRole("button", { name: "Use other entries of the Secret" }));
  await user.type(screen.getByRole("textbox", { name: "Access key entry" }), "id");
  expect(input.source.credentialsSecretRef).toEqual({ name: "other", accessKeyKey: "id" });
  screen.getByText("Name of a Secret in the same namespace with id and secretKey");
});

test("the identity of the pods replaces the Secret, and the other way round", async () => {
  input.source.credentialsSecretRef = { name: "keys" };
  const user = show();
  await user.click(screen.getByRole("radio", { name: /Workload identity/ }));
  expect(input.source.auth).toBe("WorkloadIdentity");
  expect(input.source.credentialsSecretRef).toBeUndefined();
  await user.click(screen.getByRole("radio", { name: /Existing Secret/ }));
  expect(input.source.auth).toBeUndefined();
  expect(input.source.credentialsSecretRef).toEqual({ name: "keys" });
});

test("inline keys are moved to a Secret and removed from the form", async () => {
  const { credentialsSecretRef: _, ...inline } = input.source;
  input.source = { ...inline, accessKey: "x" };
  const user = show();
  await user.clear(screen.getByLabelText(/^Access key/));
  const button = () => screen.getByRole<HTMLButtonElement>("button", { name: "Create a Secret from these keys" });
  expect(button().disabled).toBe(true);
  await user.type(screen.getByLabelText(/^Access key/), "AKIA");
  await user.type(screen.getByLabelText(/^Secret key/), "hush");
  await user.click(button());
  await screen.findByText("The Secret cats-s3 was created");
  const field = await secret();
  await hasFocus(() => field);
  expect(created).toEqual([{ namespace: "photos", name: "cats-s3", accessKey: "AKIA", secretKey: "hush" }]);
  expect(input.source).toEqual({ type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "cats-s3" } });
  expect(asked.join(" ")).not.toContain("hush");
  expect(document.body.innerHTML).not.toContain("hush");
});

test("an existing Secret is not overwritten: the remedy is shown, and the keys are kept", async () => {
  refusal = { status: 409, title: "Conflict", detail: 'the Secret "cats-s3" already exists: choose another name' };
  const user = show();
  await user.click(screen.getByRole("radio", { name: "Inline keys" }));
  await user.type(screen.getByLabelText(/^Access key/), "AKIA");
  await user.type(screen.getByLabelText(/^Secret key/), "hush");
  await user.click(screen.getByRole("button", { name: "Create a Secret from these keys" }));
  within(await screen.findByRole("alert")).getByText(/choose another name/);
  expect(input.source.accessKey).toBe("AKIA");
});

test("a service account key is moved to a Secret, and is never part of the form", async () => {
  input.source = { type: "GoogleCloudStorage", bucket: "b" };
  const user = show("GoogleCloudStorage");
  await user.click(screen.getByRole("radio", { name: "New Secret" }));
  await user.click(screen.getByRole("textbox", { name: /^Service account key/ }));
  await user.paste('{"private_key": "hush"}');
  expect(JSON.stringify(input)).not.toContain("hush");
  await user.click(screen.getByRole("button", { name: "Create the Secret" }));
  await screen.findByText("The Secret cats-gcs was created");
  expect(created).toEqual([{ namespace: "photos", name: "cats-gcs", credentialsJson: '{"private_key": "hush"}' }]);
  expect(input.source).toEqual({ type: "GoogleCloudStorage", bucket: "b", credentialsSecretRef: { name: "cats-gcs" } });
  expect(JSON.stringify(sessionStorage) + JSON.stringify(localStorage)).not.toContain("hush");
});

test("without the right to create Secrets, the missing permission is shown", async () => {
  access.createSecret = false;
  input.source = { type: "S3", bucket: "b", region: "r", accessKey: "AKIA", secretKey: "hush" };
  show();
  await screen.findByText(/the permission to create secrets in the namespace photos/);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Create a Secret from these keys" }).disabled).toBe(true);
});
