import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Json } from '../../kit/code.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Task, useTask, type TaskRun } from '../../kit/task.ts';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { Working } from '../../kit/working.tsx';
import { call, currentAccount } from '../../session.ts';

type Account = Reply<'GET /platform/api/v1/accounts'>['payload'][number];
type Ledger = Reply<'GET /platform/api/v1/ledger'>;

/** All accounts of the service, and whether what always holds in its database does; for platform administrators. */
export function PlatformPage({ query }: ViewProps) {
  const page = pageOf(query);
  const accounts = useLoad((signal) => call('GET /platform/api/v1/accounts', { query: { page }, signal }), [page]);
  const [edited, setEdited] = useState<Account | 'new' | null>(null);
  return (
    <Page
      title="Platform"
      actions={
        accounts.value && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New account
          </button>
        )
      }
    >
      <Show of={accounts}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Accounts of the service"
              rows={payload}
              keyOf={({ id }) => id}
              empty={<p>There are no accounts.</p>}
              columns={[
                { title: 'Number', cell: ({ id }) => id },
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Model server', cell: ({ llm }) => llm?.model ?? 'The service’s own' },
                { title: 'Made', cell: ({ created_at: at }) => <Time at={at} /> },
                {
                  title: 'Actions',
                  cell: (account) => (
                    <AccountActions account={account} edit={() => setEdited(account)} changed={accounts.reload} />
                  ),
                },
              ]}
            />
            <Pages meta={meta} />
            <LedgerCheck />
          </>
        )}
      </Show>
      {edited && (
        <AccountDialog
          account={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void accounts.reload();
          }}
        />
      )}
    </Page>
  );
}

interface ActionsProps {
  account: Account;
  edit: () => void;
  changed: () => Promise<void>;
}

function AccountActions({ account: { id, name }, edit, changed }: ActionsProps) {
  return (
    <div class="actions">
      <button type="button" aria-label={`Rename ${name}`} onClick={edit}>
        Rename
      </button>
      {id !== currentAccount()?.id && (
        <Action
          kind="danger"
          label={`Delete ${name}`}
          question={`Everything of “${name}” is deleted: its conversations, contacts, bots, webhooks and articles. Its people stay, without access to it.`}
          done={`“${name}” is deleted.`}
          act={async () => {
            await call('DELETE /platform/api/v1/accounts/:id', { id });
            await changed();
          }}
        >
          Delete
        </Action>
      )}
    </div>
  );
}

function AccountDialog({ account, close, saved }: { account: Account | null; close: () => void; saved: () => void }) {
  const [name, setName] = useState(account?.name ?? '');
  async function send(): Promise<void> {
    const body = { name };
    await (account
      ? call('PATCH /platform/api/v1/accounts/:id', { id: account.id, body })
      : call('POST /platform/api/v1/accounts', { body }));
    saved();
  }
  return (
    <Dialog title={account ? `Account ${account.name}` : 'New account'} onClose={close}>
      <Form submit={account ? 'Save' : 'Create'} send={send}>
        {(problemOf) => <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />}
      </Form>
    </Dialog>
  );
}

// It goes on while its page is left, and is shown when somebody comes back.
const checking = new Task<Ledger>();

async function checkAll({ signal, told }: TaskRun<Ledger>): Promise<void> {
  const read = (step: number): Promise<Ledger> => call('GET /platform/api/v1/ledger', { query: { step }, signal });
  let ledger = await read(1);
  told(ledger);
  while (ledger.invariants.length < ledger.steps) {
    const next = await read(ledger.invariants.length + 1);
    ledger = { ...next, ok: ledger.ok && next.ok, invariants: [...ledger.invariants, ...next.invariants] };
    told(ledger);
  }
}

function LedgerCheck() {
  const { since, progress: ledger, error } = useTask(checking);
  const check = (): Promise<void> => checking.start(checkAll, { done: 'The ledger is checked: see Platform.' });
  const isWhole = ledger?.invariants.length === ledger?.steps;
  return (
    <>
      <h2>Ledger</h2>
      <p>What always holds between events, deliveries and attempts in the database, counted now; it takes a while.</p>
      <button type="button" disabled={since !== null} aria-busy={since !== null} onClick={() => void check()}>
        Check the ledger
      </button>
      <Working
        on={since}
        what="The service counts"
        steps={ledger && { done: ledger.invariants.length, of: ledger.steps }}
      />
      {error !== null && (
        <p class="note error" role="alert">
          {error}
        </p>
      )}
      {ledger && (
        <>
          <p role="status">
            {!ledger.ok && <span class="badge bad">Something is broken</span>}
            {ledger.ok && isWhole && <span class="badge good">All of it holds</span>}
          </p>
          <Table
            caption="What always holds"
            rows={ledger.invariants}
            keyOf={({ id }) => id}
            empty={null}
            columns={[
              { title: 'Law', cell: ({ id }) => id },
              { title: 'What holds', cell: ({ name }) => name },
              {
                title: 'Violations',
                cell: ({ violations, sample, id }) =>
                  violations === 0 ? 'None' : <Json label={`${violations} violations of ${id}`} value={sample} />,
              },
            ]}
          />
        </>
      )}
    </>
  );
}
