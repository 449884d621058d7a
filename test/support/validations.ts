import { mock } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Client } from 'pg';
import type { TestApp } from './app.ts';

/** Validations of settings from now on, while another change of plugins is under way on the connection `beside`. */
export async function validating(
  app: TestApp,
  act: (held: { beside: Client; validations: unknown[] }) => Promise<void>,
): Promise<void> {
  const validations: unknown[] = [];
  const compile = Reflect.get(Ajv2020.prototype, 'compile') as (this: Ajv2020, schema: object) => object;
  const compiling = mock.method(Ajv2020.prototype, 'compile', function (this: Ajv2020, schema: object) {
    const note = (validate: object, self: unknown, parts: unknown[]) => {
      validations.push(parts[0]);
      return Reflect.apply(validate as () => boolean, self, parts);
    };
    return new Proxy(compile.call(this, schema), { apply: note });
  });
  const beside = new Client({ connectionString: app.databaseUrl });
  await beside.connect();
  try {
    // The transaction of a change waits for this lock first.
    await beside.query('BEGIN');
    await beside.query('SELECT FROM plugin_registry FOR UPDATE');
    await act({ beside, validations });
  } finally {
    compiling.mock.restore();
    await beside.end();
  }
}

/** Resolves when a change of the service waits for a lock. */
export async function isHeldUp(app: TestApp): Promise<void> {
  const blocked = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await app.eventually(async () => (await app.query(blocked)).length > 0);
}
