import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form } from '../../kit/form.tsx';
import { Show, type Loaded } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { Reply } from '../../../shared/call.ts';
import { call } from '../../session.ts';

type Shares = Reply<'GET webhooks/:id/shares'>;

const durations = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;

/** Makes a link that shares a webhook, and shows it once. */
export function ShareDialog({ webhookId, close, made }: { webhookId: number; close: () => void; made: () => void }) {
  const [seconds, setSeconds] = useState('86400');
  const [url, setUrl] = useState<string | null>(null);
  async function share(): Promise<void> {
    const body = { expires_in: Number(seconds) };
    const answer = await call('POST webhooks/:id/share', { id: webhookId, body });
    setUrl(answer.url);
    made();
  }
  return (
    <Dialog title="Share with a developer" onClose={close}>
      <p>
        Anyone with the link can read the deliveries and health of this webhook, resend deliveries and send tests.
        Payloads contain messages of customers.
      </p>
      {url === null ? (
        <Form send={share} submit="Create link" isScratch>
          {() => <ChoiceField label="Expires after" value={seconds} onChange={setSeconds} options={durations} />}
        </Form>
      ) : (
        <>
          <Code label="Link" text={url} />
          <p class="note">Shown only once. Copy it now, and send it over a private channel.</p>
        </>
      )}
    </Dialog>
  );
}

/** The links that share a webhook, each with a button that revokes it. */
export function SharedLinks({ webhookId, shares }: { webhookId: number; shares: Loaded<Shares> }) {
  return (
    <Show of={shares}>
      {({ payload }) => (
        <Table
          caption="Developer links, newest first"
          rows={payload}
          keyOf={({ id }) => id}
          empty={<p>No links.</p>}
          columns={[
            { title: 'Link', kind: 'fit', cell: ({ last_four: four }) => <code>…{four}</code> },
            { title: 'Created by', kind: 'text', cell: ({ created_by: by }) => by },
            { title: 'Created', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
            { title: 'Expires', kind: 'fit', cell: ({ expires_at: at }) => <Time at={at} /> },
            {
              title: 'Action',
              kind: 'text',
              cell: ({ id, last_four: four }) => (
                <Action
                  kind="danger"
                  label={`Revoke the link that ends with ${four}`}
                  question="Whoever has the link loses access at once."
                  done="Link revoked."
                  act={async () => {
                    await call('DELETE webhooks/:id/shares/:share_id', { id: webhookId, share_id: id });
                    await shares.reload();
                  }}
                >
                  Revoke
                </Action>
              ),
            },
          ]}
        />
      )}
    </Show>
  );
}
