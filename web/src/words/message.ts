/**
 * A part of a message: text, a value, a number with the texts of its plural forms, or an element around other parts.
 */
export type Part =
  | string
  | { value: string }
  | { plural: string; forms: ReadonlyMap<string, readonly Part[]> }
  | { element: string; parts: readonly Part[] };

/**
 * Reads a message in a subset of ICU MessageFormat: {name} is a value, {n, plural, one {# pod} other {# pods}} has a
 * text for each plural form, and <b>text</b> is an element. {@phase} is a note for translators that distinguishes texts
 * with the same English; it is not shown. The error is a SyntaxError that quotes the message.
 */
export function parse(message: string): Part[] {
  const reader = new Reader(message);
  const parts = reader.parts();
  reader.end();
  return parts;
}

class Reader {
  private at = 0;

  constructor(private readonly message: string) {}

  /** The parts up to a closing brace, a closing tag or the end. Within a plural, # is its number. */
  parts(number?: string): Part[] {
    const out: Part[] = [];
    for (let part = this.part(number); part !== undefined; part = this.part(number)) {
      out.push(part);
    }
    return out;
  }

  end(): void {
    if (this.at < this.message.length) {
      throw new SyntaxError(`invalid message at character ${this.at}: ${this.message}`);
    }
  }

  private part(number: string | undefined): Part | undefined {
    const text = this.take(/([^{}<#]+)/y) ?? (number === undefined ? this.take(/(#)/y) : undefined);
    if (text !== undefined) {
      return text;
    }
    if (this.take(/(\{@[^{}]*\})/y) !== undefined) {
      return "";
    }
    const value = this.take(/\{(\w+)\}/y) ?? (this.take(/(#)/y) && number);
    if (value !== undefined) {
      return { value };
    }
    const plural = this.take(/\{(\w+), plural,/y);
    if (plural !== undefined) {
      return { plural, forms: this.forms(plural) };
    }
    const element = this.take(/<(\w+)>/y);
    return element === undefined ? undefined : { element, parts: this.inner(element, number) };
  }

  private forms(number: string): Map<string, Part[]> {
    const out = new Map<string, Part[]>();
    for (let form = this.take(/\s*(=\d+|\w+) \{/y); form !== undefined; form = this.take(/\s*(=\d+|\w+) \{/y)) {
      out.set(form, this.parts(number));
      this.expect("}");
    }
    this.expect("}");
    return out;
  }

  private inner(element: string, number: string | undefined): Part[] {
    const parts = this.parts(number);
    this.expect(`</${element}>`);
    return parts;
  }

  /** The group of a pattern, if it matches here. */
  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const [all = "", group] = pattern.exec(this.message) ?? [];
    this.at += all.length;
    return group;
  }

  private expect(text: string): void {
    if (!this.message.startsWith(text, this.at)) {
      throw new SyntaxError(`missing ${text} at character ${this.at}: ${this.message}`);
    }
    this.at += text.length;
  }
}
