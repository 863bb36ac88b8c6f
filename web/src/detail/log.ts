/** The maximum number of lines that are kept, and the maximum number of characters in a line. */
export const maxLines = 10_000;
const maxLine = 10_000;

/** The last lines of a log. It is bounded: the oldest lines are dropped, and long lines are cut. */
export class LogBuffer {
  private lines: string[] = [];
  /** The line that has not ended yet. */
  private last = "";

  constructor(private readonly most = maxLines) {}

  /** Adds a piece of the log, which may end within a line. */
  add(text: string): void {
    const pieces = (this.last + text).split("\n").map((line) => line.replace(/\r$/, "").slice(0, maxLine));
    this.last = pieces.pop() ?? "";
    this.lines.push(...pieces);
    if (this.lines.length > 2 * this.most) {
      this.lines = this.lines.slice(-this.most);
    }
  }

  /** A copy of the lines so far. */
  read(): string[] {
    return [...this.lines, ...(this.last === "" ? [] : [this.last])].slice(-this.most);
  }
}

/** Matches a text in any case, without lowering the line, which would change the length of some letters. */
const patternOf = (text: string): RegExp => new RegExp(`(${text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")})`, "iu");

/** The lines that contain a text. */
export function matching(lines: readonly string[], text: string): readonly string[] {
  const pattern = patternOf(text);
  return text === "" ? lines : lines.filter((line) => pattern.test(line));
}

/** The parts of a line: every second part is the text. */
export const partsOf = (line: string, text: string): string[] => line.split(patternOf(text));
