/** An error that a bot gets from a call: `code` for programs, a sentence for people. */
export class DoorError extends Error {
  override name = 'DoorError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a call that this service has nothing for. */
export class UnavailableError extends DoorError {
  constructor(what: string) {
    super('unavailable', `This service offers no \`${what}\``);
  }
}
