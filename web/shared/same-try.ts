import { newKey } from './new-key.ts';

/** The key of one change at the service: the same for every try of it, so that it happens once. */
export class SameTry {
  #last: { parts: readonly unknown[]; key: string } | null = null;

  /** The key for a change of these parts: that of the last try, when it was of the same and no answer came. */
  keyOf(...parts: readonly unknown[]): string {
    const isSame =
      this.#last?.parts.length === parts.length && this.#last.parts.every((part, at) => part === parts[at]);
    if (!isSame || !this.#last) this.#last = { parts, key: newKey() };
    return this.#last.key;
  }

  /** The service has answered: the same once more is another change. */
  answered(): void {
    this.#last = null;
  }
}
