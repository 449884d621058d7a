import { useState } from 'preact/hooks';
import { useDraft } from '../../kit/draft.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Time } from '../../kit/time.tsx';
import { call } from '../../session.ts';

/** The notes of a contact, newest first, and the form for another. */
export function Notes({ contactId: id }: { contactId: number }) {
  const [pages, setPages] = useState(1);
  const notes = useLoad((signal) => readPages(id, pages, signal), [id, pages]);
  const draft = useDraft(`note of contact ${id}`, { content: '' });
  async function add(): Promise<void> {
    const sent = draft.value;
    await call('POST contacts/:id/notes', { id, body: { content: sent.content } });
    draft.saved(sent);
    await notes.reload();
  }
  return (
    <section class="panel" aria-labelledby="notes">
      <h2 id="notes">Notes</h2>
      <Form submit="Add note" send={add} draft={draft}>
        {(problemOf) => (
          <TextField
            label="Note"
            hint="Agents see it, the customer does not."
            rows={3}
            value={draft.value.content}
            onChange={(content) => draft.set({ content })}
            problem={problemOf('content')}
          />
        )}
      </Form>
      <Show of={notes}>
        {({ payload, isWhole }) => (
          <>
            <ul class="notes">
              {payload.map(({ id: noteId, content, user, created_at: at }) => (
                <li key={noteId}>
                  <p class="text">{content}</p>
                  <small>
                    {user?.name ?? 'Former agent'} · <Time at={at} />
                  </small>
                </li>
              ))}
            </ul>
            {!isWhole && (
              <button type="button" aria-busy={notes.isLoading} onClick={() => setPages(pages + 1)}>
                Show more
              </button>
            )}
          </>
        )}
      </Show>
    </section>
  );
}

async function readPages(id: number, pages: number, signal: AbortSignal) {
  const payload = [];
  for (let page = 1; page <= pages; page += 1) {
    const read = await call('GET contacts/:id/notes', { id, query: { page }, signal });
    payload.push(...read.payload);
    if (page >= read.meta.total_pages) return { payload, isWhole: true };
  }
  return { payload, isWhole: false };
}
