import type { Reply } from '../../../shared/call.ts';
import { useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import { variablesOf, type Variables } from './message-variables.ts';
import type { Conversation } from './words.tsx';

export type CannedResponse = Reply<'GET canned_responses'>['payload'][number];

/** A slash at the start of a word and the letters behind it, up to the caret. */
export interface SlashWord {
  /** Position of the slash. */
  start: number;
  query: string;
}

/** Canned responses for a slash word. */
export interface Matches {
  responses: readonly CannedResponse[];
  /** Whether `responses` are those for the present word, and variables are known. */
  isReady: boolean;
  error: string | null;
  variables: Variables;
}

/** Returns the slash word that ends at the caret, or null. */
export function slashWordAt(text: string, caret: number): SlashWord | null {
  const found = /(?:^|\s)\/([^\s/]{0,255})$/.exec(text.slice(0, caret));
  const query = found?.[1];
  return query === undefined ? null : { start: caret - query.length - 1, query };
}

/** Finds canned responses for a query, and what their variables stand for; null finds none. */
export function useMatches(conversation: Conversation, query: string | null): Matches {
  const found = useLoad((signal) => search(query, signal), [query]);
  const { contact, inbox_id: inboxId } = conversation;
  const about = useLoad(
    async (signal) => {
      if (query === null) return null;
      const [loaded, inboxes] = await Promise.all([
        call('GET contacts/:id', { id: contact.id, signal }),
        call('GET inboxes', { signal }),
      ]);
      return { contact: loaded, inboxName: inboxes.payload.find(({ id }) => id === inboxId)?.name ?? null };
    },
    [query === null, contact.id, inboxId],
  );
  const { contact: loaded = null, inboxName = null } = about.value ?? {};
  const responses = query !== null && found.value?.query === query ? found.value.responses : null;
  return {
    responses: responses ?? [],
    isReady: responses !== null && (about.value !== null || about.error !== null),
    error: found.error,
    variables: variablesOf({ conversation, contact: loaded, inboxName }),
  };
}

async function search(
  query: string | null,
  signal: AbortSignal,
): Promise<{ query: string | null; responses: readonly CannedResponse[] }> {
  if (query === null) return { query, responses: [] };
  const { payload } = await call('GET canned_responses', { query: query === '' ? {} : { search: query }, signal });
  return { query, responses: payload };
}
