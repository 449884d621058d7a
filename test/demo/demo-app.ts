import { TestApp, type TestAppOptions } from '../support/app.ts';

/** A service with its demonstration data, and a receiver at an address that no other test has. */
export function startDemo(subject: string, options: TestAppOptions = {}): Promise<TestApp> {
  const config = { demo: true, secretKey: `a key of the tests of ${subject} alone`, outboundAllowCidrs: [] };
  return TestApp.start({ furnishing: null, config, ...options });
}
