// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Who } from "../api/types";
import SignIn from "./SignIn";
import SignInDialog from "./SignInDialog";
import { UserMenu } from "./UserMenu";

const done = () => Promise.resolve();

const serve = (ways: object) => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  const calls: string[] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    calls.push(`${init.method ?? "GET"} ${path}`);
    return Promise.resolve(new Response(init.method === "DELETE" ? null : JSON.stringify(ways), { status: init.method === "DELETE" ? 204 : 200 }));
  });
  return calls;
};

test("an issuer is offered beside the token, and redirects back to this view", async () => {
  serve({ cluster: "production", issuer: "Dex" });
  history.replaceState(null, "", "/ui/photos/cats?tab=yaml");
  render(<SignIn expired={false} onSignedIn={done} />);
  const link = await screen.findByRole("link", { name: "Sign in with Dex" });
  expect(link.getAttribute("href")).toBe("/auth/login?return=%2Fui%2Fphotos%2Fcats%3Ftab%3Dyaml");
  expect(screen.getByText("production")).toBeTruthy();
  expect(screen.getByLabelText(/^Token/)).toBeTruthy();
});

test("without an issuer there is the token only", async () => {
  serve({ cluster: "test" });
  render(<SignIn expired={false} onSignedIn={done} />);
  await screen.findByText("test");
  expect(screen.queryByRole("link", { name: /Sign in with/ })).toBeNull();
});

test("a sign-in that failed is explained, and the reason does not return", async () => {
  serve({ cluster: "", issuer: "Dex" });
  history.replaceState(null, "", "/?signIn=expired");
  render(<SignIn expired={false} onSignedIn={done} />);
  expect(await screen.findByText(/began in another browser/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "Sign in with Dex" }).getAttribute("href")).toBe("/auth/login?return=%2F");
});

test("the text in a link to the page is not shown", async () => {
  serve({ cluster: "", issuer: "Dex" });
  history.replaceState(null, "", "/?signIn=call+555");
  render(<SignIn expired={false} onSignedIn={done} />);
  expect(await screen.findByText(/does not respond/)).toBeTruthy();
  expect(screen.queryByText(/555/)).toBeNull();
});

test("a session that expires over a form is renewed at the issuer too", async () => {
  serve({ cluster: "", issuer: "Dex" });
  history.replaceState(null, "", "/ui/photos/cats/edit");
  render(<SignInDialog onSignedIn={done} onLeave={() => undefined} />);
  expect((await screen.findByRole("link", { name: "Sign in with Dex" })).getAttribute("href")).toBe("/auth/login?return=%2Fui%2Fphotos%2Fcats%2Fedit");
});

test("signing out ends the session, and then the session at the issuer", async () => {
  const calls = serve({});
  const assign = vi.fn();
  vi.stubGlobal("location", { assign });
  const who: Who = { username: "oidc:alice", groups: [], auth: "oidc", signOutUrl: "https://dex.example.com/logout?client_id=darkroom" };
  render(<UserMenu who={who} onSignOut={() => calls.push("signed out")} />);
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Signed in as oidc:alice" }));
  await user.click(screen.getByRole("menuitem", { name: "Sign out" }));
  await vi.waitFor(() => expect(assign).toHaveBeenCalledWith(who.signOutUrl));
  expect(calls).toEqual(["DELETE /session", "signed out"]);
});
