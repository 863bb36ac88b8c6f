import { expect, test } from "vitest";
import { EventParser } from "./parser";

const whole = 'retry: 2000\n\nevent: reset\ndata: {}\n\nid: E-2\nevent: synced\ndata: {"items":1}\n\n: heartbeat\n\n';
const events = [
  { event: "reset", data: "{}", id: undefined },
  { event: "synced", data: '{"items":1}', id: "E-2" },
];

test("events are read whole", () => {
  expect(new EventParser().feed(whole)).toEqual(events);
});

test("events are read however the stream is cut", () => {
  for (let cut = 1; cut < whole.length; cut++) {
    const parser = new EventParser();
    expect([...parser.feed(whole.slice(0, cut)), ...parser.feed(whole.slice(cut))]).toEqual(events);
  }
});

test("lines may end with CR LF, and data may have several", () => {
  expect(new EventParser().feed("data: a\r\ndata: b\r\n\r\n")).toEqual([{ event: "message", data: "a\nb", id: undefined }]);
});
