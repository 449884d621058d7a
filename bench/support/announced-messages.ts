import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

/** SQL that announces each commit of a message. */
const announcing = `
  CREATE OR REPLACE FUNCTION bench_announce() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_notify('bench', NEW.conversation_id || ' ' || NEW.sender_kind); RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER bench_announce AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION bench_announce();
  LISTEN bench`;

/** Commits of messages, as `CONVERSATION SENDER_KIND`, with what was noted at the first of each. */
export interface AnnouncedMessages<Note> {
  /** Waits for a commit; the kind alone stands for one in any conversation. */
  seen(what: string): Promise<Note>;
  /** Forgets those before. */
  forget(): void;
  stop(): Promise<void>;
}

/** Listens for the commits of messages, one at a time: notifying takes a lock at each commit, which commits at once would wait for. */
export async function listenForMessages<Note>(
  database: Client,
  { note, patienceMs }: { note: () => Note; patienceMs: number },
): Promise<AnnouncedMessages<Note>> {
  await database.query(announcing);
  const notes = new Map<string, Note>();
  const see = ({ payload = '' }: { payload?: string | undefined }): void => {
    if (!notes.has(payload)) notes.set(payload, note());
  };
  database.on('notification', see);
  return {
    seen: async (what) => {
      const until = performance.now() + patienceMs;
      for (; performance.now() < until; await sleep(1)) {
        const [, found] = [...notes].find(([one]) => one === what || one.endsWith(` ${what}`)) ?? [];
        if (found !== undefined) return found;
      }
      throw new Error(`There was no message of ${what}`);
    },
    forget: () => notes.clear(),
    stop: async () => {
      database.off('notification', see);
      await database.query('UNLISTEN bench; DROP TRIGGER bench_announce ON messages');
    },
  };
}
