import type { Executor } from '../postgres/sql.ts';
import { keyOf, type EndpointKind, type EndpointOfAccount } from './core/endpoint.ts';
import type { DueEndpoint } from './core/slots.ts';
import { firstEndpoint, lookAt, surveyDue } from './queue/due-endpoints.ts';

/** Endpoints per survey; the next survey continues after them. */
const surveyed = 1_000;

/** The endpoints of one kind that had something due when last looked at, and those to look at next. */
export class DueList {
  readonly #kind: EndpointKind;
  #mustSurvey = false;
  #after: EndpointOfAccount = firstEndpoint;
  readonly #touched = new Map<string, EndpointOfAccount>();
  #due = new Map<string, DueEndpoint>();

  constructor(kind: EndpointKind) {
    this.#kind = kind;
  }

  /** Makes the next look survey all endpoints. */
  touchAll(): void {
    this.#mustSurvey = true;
  }

  /** Makes the next look include this endpoint. */
  touch(endpoint: EndpointOfAccount): void {
    this.#touched.set(keyOf(endpoint), endpoint);
  }

  /** Whether there is anything to look at. */
  get isTouched(): boolean {
    return this.#mustSurvey || this.#touched.size > 0;
  }

  /** Removes an endpoint until it is touched again: nothing more is due, or it may not be called. */
  remove(endpoint: EndpointOfAccount): void {
    this.#due.delete(keyOf(endpoint));
  }

  /**
   * Looks at the touched endpoints; returns all that have something due. Looking at the touched ones only keeps a claim
   * cheap while many endpoints have something due but no slot.
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
