// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { useState } from "react";
import type { DarkroomInput } from "../api/types";
import { Advanced } from "./Advanced";
import { FormContext } from "./fields";

let input: DarkroomInput;

function Form() {
  const [now, setNow] = useState(input);
  const change = (next: DarkroomInput) => {
    input = next;
    setNow(next);
  };
  return (
    <FormContext value={{ input: now, errors: [], missing: [], disabled: false, touch: () => undefined, change }}>
      <Advanced />
    </FormContext>
  );
}

test("the TLS Secret is chosen among those of the namespace, which are read once the section is open", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    const secrets = [
      { name: "keys", type: "Opaque", keys: ["accessKey", "secretKey"] },
      { name: "wildcard", type: "kubernetes.io/tls", keys: ["tls.crt", "tls.key"] },
    ];
    const body = path.startsWith("/access") ? { listSecrets: true } : { items: secrets, truncated: false };
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
  input = { name: "cats", namespace: "photos", source: { type: "WebFolder", baseUrl: "https://example.com" }, subDomains: ["cats"] };
  render(<Form />);
  const user = userEvent.setup();
  expect(asked).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Advanced" }));
  await user.click(await screen.findByRole("combobox", { name: "TLS Secret" }));
  const list = screen.getByRole("listbox", { name: "TLS Secret" });
  expect(within(list).getAllByRole("option").map((option) => option.textContent)).toEqual(["wildcard", "keysLacks tls.crt, tls.key"]);
  await user.click(within(list).getByRole("option", { name: "wildcard" }));
  expect(input.ingress).toEqual({ tlsSecretName: "wildcard" });
  await user.clear(screen.getByRole("combobox", { name: "TLS Secret" }));
  expect(input.ingress?.tlsSecretName).toBeUndefined();
});
