import type { Executor } from '../postgres/sql.ts';
import { keyOf, type EndpointKind, type EndpointOfAccount } from './core/endpoint.ts';
import type { DueEndpoint } from './core/slots.ts';
import { firstEndpoint, lookAt, surveyDue } from './queue/due-endpoints.ts';

/** Endpoints that one survey steps over at most; the next goes on behind them. */
const surveyed = 1_000;

/** The endpoints of one kind that had something due when they were last looked at, and those to be looked at next. */
export class DueList {
  readonly #kind: EndpointKind;
  #mustSurvey = false;
  #after: EndpointOfAccount = firstEndpoint;
  readonly #touched = new Map<string, EndpointOfAccount>();
  #due = new Map<string, DueEndpoint>();

  constructor(kind: EndpointKind) {
    this.#kind = kind;
  }

  /** Has the next look go over whatever is due. */
  touchAll(): void {
    this.#mustSurvey = true;
  }

  /** Has the next look include this endpoint. */
  touch(endpoint: EndpointOfAccount): void {
    this.#touched.set(keyOf(endpoint), endpoint);
  }

  /** Whether a look would find out anything. */
  get isTouched(): boolean {
    return this.#mustSurvey || this.#touched.size > 0;
  }

  /** Takes an endpoint off until it is touched again: nothing more of it is due, or it may not be called. */
  remove(endpoint: EndpointOfAccount): void {
    this.#due.delete(keyOf(endpoint));
  }

  /**
   * Looks at what was touched, and answers what is due by now. What was touched is looked at alone: of a crowd that has
   * things due but no slot, each claim would have to step over every endpoint.
   */
  async look(executor: Executor): Promise<Iterable<DueEndpoint>> {
    if (this.#mustSurvey) {
      this.#mustSurvey = false;
      const { due, next } = await surveyDue(executor, { kind: this.#kind, after: this.#after, limit: surveyed });
      this.#after = next;
      this.#due = new Map(due.map((endpoint) => [keyOf(endpoint), endpoint]));
    }
    if (this.#touched.size > 0) {
      const touched = [...this.#touched.values()];
      this.#touched.clear();
      for (const endpoint of touched) this.remove(endpoint);
      for (const endpoint of await lookAt(executor, this.#kind, touched)) this.#due.set(keyOf(endpoint), endpoint);
    }
    return this.#due.values();
  }
}
