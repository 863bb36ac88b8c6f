// Creates, changes, watches and deletes a Darkroom by a client whose types openapi-typescript generates.
// internal/apiserver/clients_test.go starts it, with URL, TOKEN and NAMESPACE; `npm run check` compiles it.
import { strict as assert } from "node:assert";
import { EventSourceParserStream } from "eventsource-parser/stream";
import createClient from "openapi-fetch";

const { URL: baseUrl, TOKEN, NAMESPACE: namespace } = process.env;
assert(baseUrl && TOKEN && namespace, "URL, TOKEN or NAMESPACE is not set");
const name = "from-typescript";

/** @type {import("openapi-fetch").Client<import("../src/api/schema").paths>} */
const api = createClient({ baseUrl, headers: { Authorization: `Bearer ${TOKEN}` } });

const stream = await api.GET("/events/stream", { params: { query: { namespace } }, parseAs: "stream" });
assert(stream.data, JSON.stringify(stream.error));
const events = stream.data.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();

/**
 * Reads up to an event of a kind.
 * @param {string} kind
 */
const until = async (kind) => {
  for (;;) {
    const { value, done } = await events.read();
    assert(!done, `the stream ended before ${kind}`);
    if (value.event === kind) {
      return;
    }
  }
};
await until("synced");

const baseURL = "https://example.com/images";
const refused = await api.POST("/darkrooms", {
  // @ts-expect-error -- no source has this type
  body: { name, namespace, subDomains: [name], source: { type: "Nope", baseUrl: baseURL } },
});
assert.equal(refused.response.status, 422, "the server refuses what the types refuse");

const created = await api.POST("/darkrooms", {
  body: { name, namespace, subDomains: [name], source: { type: "WebFolder", baseUrl: baseURL } },
});
assert(created.data, JSON.stringify(created.error));
await until("added");

/** @param {string} etag */
const patch = (etag) =>
  api.PATCH("/darkrooms/{namespace}/{name}", {
    params: { path: { namespace, name }, header: { "If-Match": etag } },
    body: { replicas: 2 },
    headers: { "Content-Type": "application/merge-patch+json" },
  });
assert.equal((await patch('"1"')).response.status, 412, "an old version is not changed");
const patched = await patch(created.response.headers.get("ETag") ?? "");
assert.equal(patched.data?.replicas, 2, JSON.stringify(patched.error));
await until("modified");

const deleted = await api.DELETE("/darkrooms/{namespace}/{name}", { params: { path: { namespace, name } } });
assert.equal(deleted.response.status, 204, JSON.stringify(deleted.error));
await until("deleted");
await events.cancel();
