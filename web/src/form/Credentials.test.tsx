// @vitest-environment jsdom
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { useState } from "react";
import type { Access, DarkroomInput, NewSecret, SecretList } from "../api/types";
import { Credentials } from "./Credentials";
import { FormContext } from "./fields";
import type { WithCredentials } from "./secrets";

let access: Access;
let list: SecretList;
let created: NewSecret[];
let asked: string[];
/** The answer to a new Secret, unless it is created. */
let refusal: { status: number; title: string; detail: string } | undefined;
let input: DarkroomInput;

const reply = (status: number, body: unknown) => Promise.resolve(new Response(JSON.stringify(body), { status }));

beforeEach(() => {
  access = { create: true, update: true, delete: true, image: true, log: true, listSecrets: true, createSecret: true };
  list = {
    items: [
      { name: "half", type: "Opaque", keys: ["accessKey"] },
      { name: "keys", type: "Opaque", keys: ["accessKey", "secretKey"] },
      { name: "other", type: "Opaque", keys: ["id", "secret"] },
    ],
    truncated: false,
  };
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
    return reply(200, list);
  });
});

function Form({ type }: { type: WithCredentials }) {
  const [now, setNow] = useState(input);
  return (
    <FormContext
      value={{
        input: now,
        errors: [],
        missing: [],
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

const secret = () => screen.findByRole("combobox", { name: "Secret" });
const options = () => screen.getAllByRole("option").map((option) => option.textContent);

test("Secrets with the keys come first, others are marked", async () => {
  const user = show();
  await user.click(await secret());
  expect(options()).toEqual(["keys", "halfLacks secretKey", "otherLacks accessKey, secretKey"]);
  await user.click(screen.getByRole("option", { name: /^keys/ }));
  expect(input.source.credentialsSecretRef).toEqual({ name: "keys" });
  expect(screen.queryByRole("option")).toBeNull();
});

test("a Secret is chosen by keys, or typed although it is not listed", async () => {
  const user = show();
  await user.click(await secret());
  await user.keyboard("{ArrowDown}{ArrowDown}{Enter}");
  expect(input.source.credentialsSecretRef).toEqual({ name: "half" });
  screen.getByText("This Secret lacks secretKey. Choose another one, or other entries of it.");
  await user.clear(await secret());
  await user.keyboard("new-one");
  expect(input.source.credentialsSecretRef).toEqual({ name: "new-one" });
});

test("typing filters the Secrets, and Escape closes them", async () => {
  const user = show();
  await user.type(await secret(), "ke");
  expect(options()).toEqual(["keys"]);
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("option")).toBeNull());
});

test("suggestions that arrive late do not interrupt typing", async () => {
  const user = show();
  await user.type(screen.getByRole("textbox", { name: "Secret" }), "new-");
  await secret();
  await user.keyboard("one");
  expect(input.source.credentialsSecretRef).toEqual({ name: "new-one" });
});

test("entries are chosen among the keys of the Secret", async () => {
  input.source.credentialsSecretRef = { name: "other" };
  const user = show();
  await secret();
  await user.click(screen.getByRole("button", { name: "Use other entries of the Secret" }));
  await user.click(screen.getByRole("combobox", { name: "Access key entry" }));
  expect(options()).toEqual(["id", "secret"]);
  await user.click(screen.getByRole("option", { name: "id" }));
  await user.click(screen.getByRole("combobox", { name: "Secret key entry" }));
  await user.click(screen.getByRole("option", { name: "secret" }));
  expect(input.source.credentialsSecretRef).toEqual({ name: "other", accessKeyKey: "id", secretKeyKey: "secret" });
  expect(screen.queryByText(/This Secret lacks/)).toBeNull();
});

test("without the right to list Secrets the name is typed, and the right is named", async () => {
  access.listSecrets = false;
  const user = show();
  await screen.findByText(/the permission to list secrets in the namespace photos/);
  expect(screen.queryByRole("combobox")).toBeNull();
  await user.type(screen.getByRole("textbox", { name: "Secret" }), "keys");
  expect(input.source.credentialsSecretRef).toEqual({ name: "keys" });
  expect(asked.filter((path) => path.startsWith("/secrets"))).toEqual([]);
});

test("a list that is cut short says so", async () => {
  list.truncated = true;
  show();
  await screen.findByText(/more Secrets than are listed/);
});

test("inline keys become a Secret, and leave the form", async () => {
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
  expect(asked.filter((path) => path.startsWith("/secrets?"))).toEqual([]);
  const field = await secret();
  expect(document.activeElement).toBe(field);
  expect(created).toEqual([{ namespace: "photos", name: "cats-s3", accessKey: "AKIA", secretKey: "hush" }]);
  expect(input.source).toEqual({ type: "S3", bucket: "b", region: "r", credentialsSecretRef: { name: "cats-s3" } });
  expect(asked.join(" ")).not.toContain("hush");
  expect(document.body.innerHTML).not.toContain("hush");
});

test("a Secret that exists is not overwritten: the remedy is shown, and the keys stay", async () => {
  refusal = { status: 409, title: "Conflict", detail: 'the Secret "cats-s3" already exists: choose another name' };
  const user = show();
  await user.click(screen.getByRole("radio", { name: "Inline keys" }));
  await user.type(screen.getByLabelText(/^Access key/), "AKIA");
  await user.type(screen.getByLabelText(/^Secret key/), "hush");
  await user.click(screen.getByRole("button", { name: "Create a Secret from these keys" }));
  within(await screen.findByRole("alert")).getByText(/choose another name/);
  expect(input.source.accessKey).toBe("AKIA");
});

test("a service account key becomes a Secret, and is never a part of the form", async () => {
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

test("without the right to create Secrets the right is named", async () => {
  access.createSecret = false;
  input.source = { type: "S3", bucket: "b", region: "r", accessKey: "AKIA", secretKey: "hush" };
  show();
  await screen.findByText(/the permission to create secrets in the namespace photos/);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Create a Secret from these keys" }).disabled).toBe(true);
});
