/** The contact's token of an inbox, in the page's own storage: all that the widget keeps there. */
export class KeptToken {
  readonly #name: string;

  constructor(inbox: string) {
    this.#name = `switchboard:${inbox}`;
  }

  read(): string | null {
    try {
      return localStorage.getItem(this.#name);
    } catch {
      // Pages may be without storage; then each load is a new visitor.
      return null;
    }
  }

  write(token: string | null): void {
    try {
      if (token === null) localStorage.removeItem(this.#name);
      else localStorage.setItem(this.#name, token);
    } catch {
      return;
    }
  }
}
