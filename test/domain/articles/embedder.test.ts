import { expect } from 'chai';
import { openGate } from '../../../src/lib/outbound-gate.ts';
import { until } from '../../sandbox/helpers.ts';
import { PassageEmbedder } from '../../../src/domain/articles/embeddings/embedder.ts';
import type { Database } from '../../../src/postgres/database.ts';

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** A database without tasks; `asked` is told of each statement, before it is answered. */
function databaseOf(asked: (statement: string) => void): Database {
  const sql = (text: string) => {
    asked(text);
    return Promise.resolve(text.includes('min(due_at)') ? [{ ms: null }] : []);
  };
  return { sql } as unknown as Database;
}

describe('what embeds articles', () => {
  it('looks once more when it is poked at the end of a look', async () => {
    let [looks, pokes] = [0, 0];
    const embedder = new PassageEmbedder({
      gate: openGate,
      database: databaseOf((statement) => {
        if (statement.includes('claim = t.claim + 1')) looks += 1;
        if (!statement.includes('min(due_at)') || pokes === 1) return;
        pokes += 1;
        embedder.poke();
      }),
      serverOf: () => Promise.resolve(null),
      ownServer: null,
      embed: () => Promise.reject(new Error('Nothing is to be embedded')),
      batch: 1,
      inFlight: 1,
      retryMs: 1,
      changesPerDay: 1,
      timeoutMs: 1,
      told: () => undefined,
      failed: (error) => {
        throw error;
      },
    });
    await embedder.start();
    await until(() => looks === 2);
    // A third one would follow at once.
    await pause(50);
    await embedder.stop();
    expect([pokes, looks]).to.deep.equal([1, 2]);
  });
});
