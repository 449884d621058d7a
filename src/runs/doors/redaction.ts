/** Values shorter than this are in too many texts by chance. */
const minChars = 4;

/** Replaces secrets by their names in everything that a bot, or the record of its run, gets to see. */
export class Redaction {
  readonly #forms = new Map<string, string>();

  /** From now on the value of this secret is replaced, also where it is written as in JSON, URLs or base64. */
  add(name: string, value: string): void {
    if (value.length < minChars) return;
    const hidden = `[secret ${name}]`;
    const forms = [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
    ];
    for (const form of forms) this.#forms.set(form, hidden);
  }

  /** A copy of a JSON value without the secrets; the value itself when there are none. */
  apply<Value>(value: Value): Value {
    return this.#forms.size === 0 ? value : (this.#in(value) as Value);
  }

  #in(value: unknown): unknown {
    if (typeof value === 'string') return this.#inText(value);
    if (Array.isArray(value)) return value.map((item) => this.#in(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.#inText(name), this.#in(inner)]));
  }

  #inText(text: string): string {
    let hidden = text;
    for (const [form, name] of this.#forms) hidden = hidden.replaceAll(form, () => name);
    return hidden;
  }
}
