// A browser test has a network of its own (test/e2e/network_test.go). SERVER_SOCKETS names the
// Unix sockets that lead to servers, as PORT=PATH, separated by commas.
import { connect, createServer } from "node:net";

/**
 * Makes the servers reachable at their ports of this machine.
 * @returns what makes them look as if they had ended, with all connections, and as if they were started again
 */
export function forwardServers() {
  const connections = /** @type {Set<import("node:net").Socket>} */ (new Set());
  const forwarders = (process.env["SERVER_SOCKETS"] ?? "")
    .split(",")
    .filter(Boolean)
    .map((socket) => {
      const [port, path = ""] = socket.split("=");
      // The browser opens more connections than it uses, and closes them at will.
      const ignore = () => undefined;
      const forwarder = createServer((client) => {
        const server = connect(path);
        connections.add(client);
        client.pipe(server).pipe(client);
        client.on("error", ignore).on("close", () => {
          connections.delete(client);
          server.destroy();
        });
        server.on("error", ignore).on("close", () => client.destroy());
      });
      return { listen: () => forwarder.listen(Number(port), "127.0.0.1").unref(), close: () => forwarder.close() };
    });
  const start = () => forwarders.forEach(({ listen }) => listen());
  const stop = () => {
    forwarders.forEach(({ close }) => close());
    connections.forEach((client) => client.destroy());
  };
  start();
  return { start, stop };
}
