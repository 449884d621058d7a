import { Action } from '../../kit/action.tsx';
import { Show, type Loaded } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { Reply } from '../../../shared/call.ts';
import { call } from '../../session.ts';

type Secrets = Reply<'GET webhooks/:id/secrets'>;

/** The secrets that sign a webhook's deliveries; all but the newest can be ended. */
export function SigningSecrets({ webhookId, secrets }: { webhookId: number; secrets: Loaded<Secrets> }) {
  return (
    <Show of={secrets}>
      {({ payload }) => (
        <Table
          caption="Signing secrets, newest first"
          rows={payload}
          keyOf={({ id }) => id}
          empty={null}
          columns={[
            { title: 'Secret', kind: 'fit', cell: ({ last_four: four }) => <code>whsec_…{four}</code> },
            { title: 'Created', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
            { title: 'Ends', kind: 'fit', cell: ({ ends_at: at }) => (at === null ? '–' : <Time at={at} />) },
            {
              title: 'Action',
              kind: 'text',
              cell: ({ id, ends_at: at, last_four: four }) =>
                at !== null && (
                  <Action
                    kind="danger"
                    label={`End the secret that ends with ${four}`}
                    question="Receivers that still use this secret can no longer verify deliveries."
                    done="Secret ended."
                    act={async () => {
                      await call('DELETE webhooks/:id/secrets/:secret_id', { id: webhookId, secret_id: id });
                      await secrets.reload();
                    }}
                  >
                    End now
                  </Action>
                ),
            },
          ]}
        />
      )}
    </Show>
  );
}
