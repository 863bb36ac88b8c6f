/** The most lines that are kept, and the most characters of a line. */
export const maxLines = 10_000;
const maxLine = 10_000;

/**
 * The last lines of a log that arrives piece by piece. It is bounded: the oldest lines are
 * dropped, and long ones are cut.
 */
export class LogBuffer {
  private lines: string[] = [];
  private rest = "";

  constructor(private readonly most = maxLines) {}

  feed(piece: string): void {
    const lines = (this.rest + piece).split("\n");
    this.rest = (lines.pop() ?? "").slice(0, maxLine);
    this.add(lines);
  }

  /** Ends the last line, which may lack a line break. */
  end(): void {
    if (this.rest !== "") {
      this.add([this.rest]);
      this.rest = "";
    }
  }

  /** The lines so far; a copy. */
  read(): string[] {
    return [...this.lines];
  }

  private add(lines: string[]): void {
    const all = this.lines.concat(lines.slice(-this.most).map((line) => line.slice(0, maxLine).replace(/\r$/, "")));
    this.lines = all.slice(-this.most);
  }
}

/** The lines that contain a text, in any case. */
export function matching(lines: readonly string[], text: string): readonly string[] {
  const wanted = text.toLowerCase();
  return wanted === "" ? lines : lines.filter((line) => line.toLowerCase().includes(wanted));
}
