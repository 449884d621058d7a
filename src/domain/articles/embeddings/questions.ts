import { ModelError, type ModelServer } from '../../../models/chat.ts';
import type { Embed } from '../../../models/embed.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { storableText } from '../../../lib/text/storable.ts';
import { questionsOf } from '../questions.ts';
import { spaceOf } from './embedder.ts';
import type { Meaning } from './similar.ts';
import { keepEmbeddingHealth } from './tasks.ts';

export interface QuestionOptions {
  serverOf: (sql: Sql, accountId: number) => Promise<ModelServer | null>;
  embed: Embed;
  /** Timeout of a search's request, in milliseconds. */
  waitMs: number;
  /** Pause after a server's failure, in milliseconds. */
  pauseMs: number;
  /** See Meaning. */
  least: number;
  compared: number;
  failed: (problem: { accountId: number; error: string }) => void;
}

/** Runs a short piece of work in the database, with a connection for that long. */
export type Reach = <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>;

/** Returns the vector of a question; null if there is none, and the words must do. Never rejects for a server's failure. */
export type ReadMeaning = (accountId: number, question: string, reach: Reach) => Promise<Meaning | null>;

const maxChars = 2000;
/** How long the stored error of an account is assumed to be unchanged. */
const knownMs = 60_000;
const maxRemembered = 1000;

/** Embeds questions. While a server fails, most searches do not wait for it. */
export class Questions {
  readonly #options: QuestionOptions;
  // Both by performance.now(): the end of a server's pause (per account for an account's own server, whose key may be at fault),
  // and the stored error of an account with the time of its last look.
  readonly #paused = new Map<string, number>();
  readonly #known = new Map<number, { error: string | null; at: number }>();

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  readonly read: ReadMeaning = async (accountId, question, reach) => {
    const { serverOf, embed, waitMs, pauseMs, least, compared } = this.#options;
    const text = storableText(meantBy(question), maxChars).trim();
    const server = text === '' ? null : await reach((sql) => serverOf(sql, accountId));
    if (!server) return null;
    const space = spaceOf(server);
    const asked = server.isOperators ? space : `${accountId} ${space}`;
    if ((this.#paused.get(asked) ?? 0) > performance.now()) return null;
    try {
      const [vector] = await embed(server, [text], AbortSignal.timeout(waitMs));
      await this.#tell(accountId, null, reach);
      return vector ? { space, vector, least, compared } : null;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      // A question that the server does not accept is no failure of the server.
      if (error.code === 'refused') return null;
      forgetSome(this.#paused).set(asked, performance.now() + pauseMs);
      await this.#tell(accountId, error.message, reach);
      return null;
    }
  };

  async #tell(accountId: number, error: string | null, reach: Reach): Promise<void> {
    const known = this.#known.get(accountId);
    const isNew = known?.error !== error;
    if (!isNew && performance.now() - known.at < knownMs) return;
    forgetSome(this.#known).set(accountId, { error, at: performance.now() });
    await reach((sql) => keepEmbeddingHealth(sql, accountId, { of: 'questions', error }));
    if (isNew && error !== null) this.#options.failed({ accountId, error });
  }
}

// The words around a question would make its vector one of everything that was said.
function meantBy(text: string): string {
  const { asking, telling } = questionsOf(text);
  return (asking.length > 0 ? asking : telling).join(' ');
}

function forgetSome<Key, Value>(map: Map<Key, Value>): Map<Key, Value> {
  if (map.size >= maxRemembered) map.clear();
  return map;
}
