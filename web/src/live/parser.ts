/** One server-sent event. */
export interface ServerEvent {
  event: string;
  data: string;
  id: string | undefined;
}

/**
 * EventParser reads a stream of server-sent events, piece by piece. Fetch is used in place
 * of EventSource, which does not tell a refusal from a break, nor notice silence.
 */
export class EventParser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id: string | undefined;

  /** Returns the events that a piece completes. */
  feed(piece: string): ServerEvent[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    const out: ServerEvent[] = [];
    for (const line of lines) {
      const event = this.line(line.replace(/\r$/, ""));
      if (event) {
        out.push(event);
      }
    }
    return out;
  }

  private line(line: string): ServerEvent | undefined {
    if (line === "") {
      return this.end();
    }
    if (line.startsWith(":")) {
      return undefined;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (field) {
      case "event":
        this.event = value;
        break;
      case "data":
        this.data.push(value);
        break;
      case "id":
        this.id = value;
        break;
    }
    return undefined;
  }

  private end(): ServerEvent | undefined {
    const complete = this.data.length > 0 ? { event: this.event || "message", data: this.data.join("\n"), id: this.id } : undefined;
    this.event = "";
    this.data = [];
    this.id = undefined;
    return complete;
  }
}
