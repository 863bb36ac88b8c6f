// A browser test has a network of its own (test/e2e/network_test.go). SERVER_SOCKETS names the
// Unix sockets that lead to servers, as PORT=PATH, separated by commas.
import { connect, createServer } from "node:net";

/** Makes the servers reachable at their ports of this machine. */
export function forwardServers() {
  for (const socket of (process.env["SERVER_SOCKETS"] ?? "").split(",").filter(Boolean)) {
    const [port, path = ""] = socket.split("=");
    // The browser opens more connections than it uses, and closes them at will.
    const ignore = () => undefined;
    const forwarder = createServer((client) => {
      const server = connect(path);
      client.pipe(server).pipe(client);
      client.on("error", ignore).on("close", () => server.destroy());
      server.on("error", ignore).on("close", () => client.destroy());
    });
    forwarder.listen(Number(port), "127.0.0.1").unref();
  }
}
