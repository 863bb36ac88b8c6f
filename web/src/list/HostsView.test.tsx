// @vitest-environment jsdom
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import type { Darkroom } from "../api/types";
import { LiveContext } from "../live/useLive";
import { Store } from "../live/store";
import { SettingsContext } from "../settings";
import { hostsOf } from "./hosts";
import HostsView from "./HostsView";

const base = "darkroom.example.com";
const status = darkroom().status;
const cats = darkroom({ name: "cats", subDomains: ["cats", "new"] });
const late = darkroom({ name: "late", namespace: "zoo", subDomains: ["cats"], status: { ...status, domains: [] } });
const hidden = darkroom({
  name: "hidden",
  subDomains: ["taken"],
  status: { ...status, domains: [], conditions: [{ type: "DomainsReady", status: "False", reason: "DomainConflict" }] },
});
const left = darkroom({ name: "left", subDomains: ["other"], status: { ...status, domains: ["old.example.org"] } });

test("hosts are routed, wait or are in conflict", () => {
  expect(hostsOf([cats, late, hidden, left], base).map(({ host, darkroom: of, state }) => [host, of.name, state])).toEqual([
    [`cats.${base}`, "cats", "routed"],
    [`cats.${base}`, "late", "conflict"],
    [`new.${base}`, "cats", "waiting"],
    ["old.example.org", "left", "routed"],
    [`other.${base}`, "left", "waiting"],
    [`taken.${base}`, "hidden", "conflict"],
  ]);
});

test("hosts are below the base domain of each Darkroom", () => {
  const elsewhere = darkroom({ name: "elsewhere", baseDomain: "{namespace}.img.example.org", status: { ...status, domains: [] } });
  const moved = darkroom({ name: "moved", status: { ...status, domains: ["moved.old.example.com"], baseDomain: "old.example.com", observedGeneration: 1 } });
  expect(hostsOf([elsewhere, moved], base).map(({ host, state }) => [host, state])).toEqual([
    ["elsewhere.photos.img.example.org", "waiting"],
    ["moved.old.example.com", "routed"],
  ]);
});

function view(...all: Darkroom[]) {
  const store = new Store();
  for (const [event, data] of [["reset", {}], ...all.map((one) => ["added", one] as const), ["synced", { all: true }]] as const) {
    store.take({ event, data: JSON.stringify(data), id: undefined });
  }
  render(
    <SettingsContext value={{ cluster: "", baseDomain: base, darkroomVersion: "", namespaces: [], version: "" }}>
      <LiveContext value={store}>
        <HostsView />
      </LiveContext>
    </SettingsContext>,
  );
  return userEvent.setup();
}

test("long hosts break between their labels", () => {
  view(cats);
  expect(screen.getByRole("link", { name: `cats.${base}` }).innerHTML).toBe(`cats.${base}`.replaceAll(".", "<wbr>."));
});

const rows = () => screen.queryAllByRole("row").slice(1).map((row) => [...row.querySelectorAll("td")].slice(0, 3).map((cell) => cell.textContent));

test("the hosts are found by host and Darkroom, and the conflicts alone", async () => {
  const user = view(cats, late, left);
  expect(screen.getByText("5 hosts")).toBeTruthy();
  await user.click(screen.getByLabelText("Conflicts only"));
  expect(rows()).toEqual([[`cats.${base}`, "zoo/late", "ConflictAlso claimed by photos/cats"]]);
  expect(location.search).toBe("?conflicts=");
  await user.click(screen.getByLabelText("Conflicts only"));
  await user.type(screen.getByLabelText("Search by host, namespace or name"), "left old");
  expect(rows()).toEqual([["old.example.org", "photos/left", "Routed"]]);
  expect(location.search).toBe("?q=left+old");
  await user.type(screen.getByLabelText("Search by host, namespace or name"), "x");
  expect(screen.getByText("No matching hosts")).toBeTruthy();
});

test("all hosts are shown, page by page", async () => {
  const user = view(...Array.from({ length: 60 }, (_, i) => darkroom({ name: `d${String(i).padStart(2, "0")}` })));
  expect(rows()).toHaveLength(50);
  await user.click(screen.getByRole("button", { name: "Go to next page" }));
  expect(rows().at(-1)?.[0]).toBe(`d59.${base}`);
});
