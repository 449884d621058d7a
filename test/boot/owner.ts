// A process of its own that runs an embedded Postgres, for tests that kill it. Takes the options as JSON, tells the URL
// and the server's process id as a line of JSON, and runs until it is killed.
import { startEmbeddedPostgres } from '../../src/postgres/embedded/start.ts';
import type { EmbeddedPostgresOptions } from '../../src/postgres/embedded/start.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const options = JSON.parse(process.argv[2] ?? '{}') as Omit<EmbeddedPostgresOptions, 'log'>;
const embedded = await startEmbeddedPostgres({ ...options, log });
console.log(JSON.stringify({ url: embedded.url, pid: embedded.pid() }));
