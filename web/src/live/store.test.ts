import { expect, test } from "vitest";
import { darkroom } from "../../test/darkrooms";
import { Store } from "./store";

const names = (store: Store) => store.read().darkrooms.map(({ name }) => name);
const event = (kind: string, data: unknown) => ({ event: kind, data: JSON.stringify(data), id: undefined });

function filled(): Store {
  const store = new Store();
  store.take(event("reset", {}));
  store.take(event("added", darkroom({ name: "a" })));
  store.take(event("added", darkroom({ name: "b" })));
  store.take(event("synced", { items: 2, all: true }));
  return store;
}

test("nothing is shown before the list is complete", () => {
  const store = new Store();
  store.take(event("reset", {}));
  store.take(event("added", darkroom({ name: "a" })));
  expect(store.read().synced).toBe(false);
  expect(names(store)).toEqual([]);
});

test("changes are shown as they arrive", () => {
  const store = filled();
  store.take(event("modified", darkroom({ name: "a", replicas: 7 })));
  store.take(event("deleted", darkroom({ name: "b" })));
  store.take(event("added", darkroom({ name: "c" })));
  expect(names(store)).toEqual(["a", "c"]);
  expect(store.get({ namespace: "photos", name: "a" })?.replicas).toBe(7);
});

test("events change the store at once, and are shown as often as its schedule allows", () => {
  const waiting: (() => void)[] = [];
  const store = new Store((run) => waiting.push(run));
  let shown = 0;
  store.subscribe(() => shown++);
  store.take(event("reset", {}));
  store.take(event("synced", { items: 0, all: true }));
  shown = 0;
  for (let i = 0; i < 100; i++) {
    store.take(event("modified", darkroom({ name: "a", replicas: i })));
  }
  expect(store.get({ namespace: "photos", name: "a" })?.replicas).toBe(99);
  expect([shown, waiting.length]).toEqual([0, 1]);
  waiting.shift()?.();
  expect(shown).toBe(1);
  expect(names(store)).toEqual(["a"]);
  store.take(event("deleted", darkroom({ name: "a" })));
  waiting.shift()?.();
  expect(names(store)).toEqual([]);
});

test("after a reset the known Darkrooms stay until the new list is complete", () => {
  const store = filled();
  store.take(event("reset", {}));
  store.take(event("added", darkroom({ name: "b" })));
  expect(names(store)).toEqual(["a", "b"]);
  store.take(event("synced", { items: 1, all: false }));
  expect(names(store)).toEqual(["b"]);
  expect(store.read().all).toBe(false);
});

test("a response that is older than its event changes nothing", () => {
  const store = filled();
  store.take(event("modified", darkroom({ name: "a", resourceVersion: "20", replicas: 2 })));
  store.put(darkroom({ name: "a", resourceVersion: "10", replicas: 1 }));
  expect(store.get({ namespace: "photos", name: "a" })?.replicas).toBe(2);
  store.put(darkroom({ name: "a", resourceVersion: "30", replicas: 3 }));
  expect(store.get({ namespace: "photos", name: "a" })?.replicas).toBe(3);
});
