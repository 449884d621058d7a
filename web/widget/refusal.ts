/** That the service refused something, in its own words; `status` 0 where it did not answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which to ask again, if the service said so; else 0. */
  readonly retryAfter: number;

  constructor(status: number, { error = '', code = '' } = {}, retryAfter = 0) {
    super(error);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    // 408: a line paused for too long.
    return [0, 408, 409, 429].includes(this.status) || this.status >= 500;
  }
}
