/** The kinds of errors by which people look for causes. */
export type ErrorClass =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'blocked_address'
  | 'bad_status'
  | 'too_large'
  | 'reset'
  | 'unknown';

// All other codes are reasons of the service, or of a bot inside it.
const classes: Readonly<Record<string, ErrorClass>> = {
  dns: 'dns',
  connect: 'connect',
  tls: 'tls',
  timeout: 'timeout',
  blocked_address: 'blocked_address',
  bad_status: 'bad_status',
  headers_overflow: 'too_large',
  reset: 'reset',
  bad_response: 'unknown',
  bad_request: 'unknown',
  bad_url: 'unknown',
};

/** The class of an attempt's error code; undefined for a reason of the service. */
export function errorClassOf(code: string): ErrorClass | undefined {
  return classes[code];
}

/** The codes of errors of the class. */
export function codesOf(errorClass: ErrorClass): string[] {
  return Object.keys(classes).filter((code) => classes[code] === errorClass);
}
