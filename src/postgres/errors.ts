interface DatabaseError {
  code?: unknown;
  severity?: unknown;
  constraint?: unknown;
  cause?: unknown;
}

const serializationFailures = new Set(['40001', '40P01']);
const malformedValues = new Set(['22021', '22P05', '22P02', '22003', '22008', '54000']);
/** The SQLSTATE of a write on a standby, or in a read-only transaction. */
export const readOnlyCode = '25006';
// SQLSTATEs of a server that shuts down, starts, is out of connections, or has ended a statement or idle transaction.
const outages = new Set(['25P03', '57P01', '57P02', '57P03', '53300', '53100', '57014', readOnlyCode]);
const networkFailures = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const lostConnection =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/;

/** True if the transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return serializationFailures.has(codeOf(error) ?? '');
}

/** True if a connection was refused for one of the parameters that it asks for, as poolers do. */
export function isStartupRefusal(error: unknown): boolean {
  return codeOf(error) === '08P01' && error instanceof Error && /startup parameter/.test(error.message);
}

/** True if the server ended the connection: at its beginning, or as an outage. */
export function isFatal(error: unknown): boolean {
  return valueOf(error, 'severity') === 'FATAL';
}

/** True if the database takes no writes. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === readOnlyCode;
}

/** Whether a statement took longer than its connection allows. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** True if a lock was not granted within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** True if the database refused to settle a delivery that another process has taken over (`refuse_stale_delivery`). */
export function isStaleDelivery(error: unknown): boolean {
  return codeOf(error) === 'STALE';
}

/** The name of the unique constraint that was violated; null for any other error. */
export function brokenUniqueConstraint(error: unknown): string | null {
  if (codeOf(error) !== '23505') return null;
  return valueOf(error, 'constraint') ?? '';
}

/** True if a row refers to one that is not there. */
export function isBrokenReference(error: unknown): boolean {
  return codeOf(error) === '23503';
}

/** True if the database refused a value, which a schema should have refused before. */
export function isMalformedValue(error: unknown): boolean {
  return malformedValues.has(codeOf(error) ?? '');
}

/** True if the database is not reachable or cannot answer at the moment. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (outages.has(code) || code.startsWith('08') || networkFailures.has(code)) return true;
  return error instanceof Error && lostConnection.test(error.message);
}

/** True for a temporary error: an outage, a deadlock or a lock timeout. */
export function isPassing(error: unknown): boolean {
  return isOutage(error) || isRetryable(error) || isLockTimeout(error);
}

/** The SQLSTATE or system error code of an error or of its causes. */
function codeOf(error: unknown): string | null {
  return valueOf(error, 'code');
}

function valueOf(error: unknown, name: 'code' | 'severity' | 'constraint'): string | null {
  for (
    let current = error as DatabaseError | undefined;
    current;
    current = current.cause as DatabaseError | undefined
  ) {
    const value = current[name];
    if (typeof value === 'string') return value;
  }
  return null;
}
