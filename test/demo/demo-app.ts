import { TestApp } from '../support/app.ts';

/** A service with its demonstration data, and a receiver at an address that no other test has. */
export function startDemo(subject: string, databaseUrl?: string): Promise<TestApp> {
  const config = { demo: true, secretKey: `a key of the tests of ${subject} alone`, outboundAllowCidrs: [] };
  return TestApp.start({ furnishing: null, config, ...(databaseUrl ? { databaseUrl } : {}) });
}
