import type { EmbeddedPostgres } from '../../../src/postgres/embedded/start.ts';
import type { Trial } from './trial.ts';

/** A line of the matrix: what is done to the service. */
export interface Fault {
  /** F1 to F27, `all` or `soak`. */
  id: string;
  /** What is done, as the table says it. */
  what: string;
  /** Settings of the service in addition to those of every test. */
  env?: Record<string, string>;
  /** The processes that one disturbance may interrupt; one unless said otherwise. */
  engines?: number;
  run: (trial: Trial) => Promise<void>;
}

/** A fault of the database's: it has a server to itself. */
export interface DatabaseFault extends Omit<Fault, 'run'> {
  runOn: (trial: Trial, server: EmbeddedPostgres) => Promise<void>;
}
