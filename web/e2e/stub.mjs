// A stand-in for the API server, for what needs no cluster: measuring the page, and looking at it.
// It keeps Darkrooms in memory, serves the built page beside the API, and does what it is told.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

const dist = process.env["DIST"] ?? join(import.meta.dirname, "..", "dist");
const types = /** @type {Record<string, string>} */ ({
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
});

/** @typedef {Record<string, any> & { name: string; namespace: string }} Darkroom */

/**
 * A Darkroom that is ready, changed as `part` says.
 * @param {Partial<Darkroom>} part
 * @returns {Darkroom}
 */
export function darkroom(part) {
  const name = part.name ?? "cats";
  return {
    name,
    namespace: "photos",
    source: { type: "WebFolder", baseUrl: "https://example.com/images" },
    subDomains: [name],
    replicas: 1,
    uid: `uid-${name}`,
    resourceVersion: "10",
    generation: 1,
    createdAt: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    ...part,
    status: {
      phase: "Ready",
      domains: [`${name}.darkroom.example.com`],
      version: "v0.4.2",
      replicas: 1,
      readyReplicas: 1,
      conditions: [],
      ...part["status"],
    },
  };
}

/**
 * Starts the server on a free port of the loopback interface.
 * @param {Darkroom[]} darkrooms
 */
export async function startStub(darkrooms) {
  const known = new Map(darkrooms.map((one) => [`${one.namespace}/${one.name}`, one]));
  const streams = /** @type {Set<import("node:http").ServerResponse>} */ (new Set());
  /** What the server is told: whether the session is good, and answers for paths that end so. */
  const state = { signedIn: true, access: { create: true, update: true, delete: true, image: true, log: true, listSecrets: true, createSecret: true }, answers: /** @type {Record<string, { status?: number; body: unknown }>} */ ({}) };
  let id = 0;
  /** @param {string} event @param {unknown} data */
  const frame = (event, data) => `id: s-${++id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  const serve = async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://stub");
    const method = request.method ?? "GET";
    let text = "";
    for await (const piece of request) {
      text += String(piece);
    }
    const body = text === "" ? undefined : JSON.parse(text);
    /** @param {unknown} value @param {number} [status] @returns {null} */
    const answer = (value, status = 200) => {
      response.writeHead(status, { "Content-Type": status < 400 ? "application/json" : "application/problem+json" });
      response.end(typeof value === "string" ? value : JSON.stringify(value));
      return null;
    };
    const told = Object.entries(state.answers).find(([end]) => pathname.endsWith(end));
    if (pathname === "/session" && method === "POST") {
      state.signedIn = true;
      return answer({ username: "system:serviceaccount:photos:alice", groups: [], auth: "token" });
    }
    if (pathname === "/session" && method === "DELETE") {
      state.signedIn = false;
      return answer("", 204);
    }
    if (pathname === "/sign-in") {
      return answer({ cluster: "" });
    }
    const isApi = /^\/(session|settings|access|secrets|darkrooms|events)(\/|$)/.test(pathname);
    if (!isApi) {
      const file = extname(pathname) === "" ? "index.html" : pathname.slice(1);
      const content = await readFile(join(dist, file));
      response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" });
      return response.end(content);
    }
    if (!state.signedIn) {
      return answer({ title: "Unauthorized", status: 401, detail: "the token is invalid or has expired" }, 401);
    }
    if (told) {
      return answer(told[1].body, told[1].status);
    }
    if (pathname === "/session") {
      return answer({ username: "system:serviceaccount:photos:alice", groups: [], auth: "token" });
    }
    if (pathname === "/settings") {
      return answer({ cluster: "", baseDomain: "darkroom.example.com", darkroomVersion: "v0.4.2", namespaces: [], version: "v0.0.0" });
    }
    if (pathname === "/access") {
      return answer(state.access);
    }
    if (pathname === "/secrets") {
      return method === "POST"
        ? answer({ name: body.name, type: "Opaque", keys: [] }, 201)
        : answer({ items: [{ name: "s3-keys", type: "Opaque", keys: ["accessKey", "secretKey"] }], truncated: false });
    }
    if (pathname === "/events/stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(frame("reset", {}) + [...known.values()].map((one) => frame("added", one)).join("") + frame("synced", { items: known.size, all: true }));
      streams.add(response);
      request.on("close", () => streams.delete(response));
      return null;
    }
    const [, , namespace, name, part] = pathname.split("/");
    const one = known.get(`${namespace ?? body?.namespace}/${name ?? body?.name}`);
    if (part === "manifest") {
      return answer(`kind: Deployment\nspec:\n  replicas: ${one?.replicas ?? 1}\n`);
    }
    if (part === "review") {
      const manifest = `kind: Deployment\nspec:\n  replicas: ${body?.replicas ?? 1}\n`;
      return answer({ manifest, outcome: { hosts: [], secrets: [], pods: one ? "keep" : "create" } });
    }
    if (part === "pods" || part === "events") {
      return answer({ items: [] });
    }
    if (part === "image") {
      response.writeHead(200, { "Content-Type": "image/svg+xml" });
      return response.end('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><rect width="64" height="48" fill="#4394e5"/><circle cx="32" cy="30" r="14" fill="#f5f5f5"/></svg>');
    }
    if (method === "GET") {
      return one ? answer(one) : answer({ title: "Not Found", status: 404, detail: `darkrooms "${name}" not found` }, 404);
    }
    const next = /** @type {Darkroom} */ ({ ...one, ...body, status: one?.status ?? { domains: [], replicas: 0, readyReplicas: 0 }, resourceVersion: String(Number(one?.["resourceVersion"] ?? 1) + 1) });
    if (!request.url?.includes("dryRun")) {
      stub.emit(one ? "modified" : "added", next);
    }
    return answer(next, method === "POST" ? 201 : 200);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((/** @type {unknown} */ error) => {
      response.writeHead(404).end(String(error));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const stub = {
    url: `http://localhost:${address.port}`,
    state,
    /** Changes a Darkroom, and sends the event. @param {"added" | "modified" | "deleted"} kind @param {Darkroom} one */
    emit: (kind, one) => {
      if (kind === "deleted") {
        known.delete(`${one.namespace}/${one.name}`);
      } else {
        known.set(`${one.namespace}/${one.name}`, one);
      }
      const text = frame(kind, one);
      for (const stream of streams) {
        stream.write(text);
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return stub;
}
