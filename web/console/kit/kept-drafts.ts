import { currentAccount, currentPerson } from '../session.ts';

const prefix = 'draft ';
const mostKept = 100;
const keptMs = 30 * 86_400_000;

interface Kept {
  at: number;
  fields: object;
}

/** Key of a draft: no other person sees it, and it belongs to one account. */
export function draftKey(name: string): string {
  return `${prefix}${currentPerson()} ${currentAccount()?.id} ${name}`;
}

/** Returns the fields of a draft, or null where none is kept. */
export function readDraft(key: string): object | null {
  return parse(attempt(() => localStorage.getItem(key)))?.fields ?? null;
}

/** Keeps the fields of a draft; null forgets them. The newest hundred drafts are kept, for 30 days. */
export function writeDraft(key: string, fields: object | null): void {
  attempt(() => {
    if (fields === null) {
      localStorage.removeItem(key);
      return;
    }
    const isNew = localStorage.getItem(key) === null;
    localStorage.setItem(key, JSON.stringify({ at: Date.now(), fields }));
    if (isNew) forgetOld();
  });
}

function forgetOld(): void {
  const drafts = Object.keys(localStorage)
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({ key, at: parse(localStorage.getItem(key))?.at ?? 0 }))
    .toSorted((one, other) => other.at - one.at);
  for (const [index, { key, at }] of drafts.entries()) {
    if (index >= mostKept || Date.now() - at > keptMs) localStorage.removeItem(key);
  }
}

function parse(text: string | null): Kept | null {
  const kept = attempt(() => JSON.parse(text ?? 'null') as Partial<Kept> | null);
  return typeof kept?.at === 'number' && typeof kept.fields === 'object' && kept.fields !== null
    ? (kept as Kept)
    : null;
}

// Storage that is full or switched off costs the draft, not the page.
function attempt<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
