import type { Reply } from '../../../shared/call.ts';
import { Json } from '../../kit/code.tsx';
import { CrudPage } from '../../kit/crud-page.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { Task, useTask, type TaskRun } from '../../kit/task.ts';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Working } from '../../kit/working.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, currentAccount } from '../../session.ts';

type Account = Reply<'GET /platform/api/v1/accounts'>['payload'][number];
type Ledger = Reply<'GET /platform/api/v1/ledger'>;

const form: RecordForm<Account, { name: string }> = {
  noun: 'account',
  nameOf: ({ name }) => name,
  fresh: { name: '' },
  draftOf: ({ name }) => ({ name }),
  fields: () => [{ name: 'name', label: 'Name', required: true }],
  save: (body, account) =>
    account
      ? call('PATCH /platform/api/v1/accounts/:id', { id: account.id, body })
      : call('POST /platform/api/v1/accounts', { body }),
};

/** All accounts of the service, and the check of its ledger; for platform administrators. */
export function PlatformPage({ query }: ViewProps) {
  const page = pageOf(query);
  return (
    <CrudPage
      title="Platform"
      caption="Accounts of the service"
      inputs={[page]}
      load={(signal) => call('GET /platform/api/v1/accounts', { query: { page }, signal })}
      form={form}
      mayChange
      editText="Rename"
      empty={<p>No accounts yet.</p>}
      columns={[
        { title: 'ID', cell: ({ id }) => id },
        { title: 'Name', kind: 'text', cell: ({ name }) => name },
        { title: 'Model server', kind: 'text', cell: ({ llm }) => llm?.model ?? 'Default' },
        { title: 'Created', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
      ]}
      mayRemove={({ id }) => id !== currentAccount()?.id}
      remove={{
        question: (name) =>
          `All conversations, contacts, bots, webhooks and articles of “${name}” are deleted. Its agents lose access to it.`,
        done: (name) => `Account “${name}” deleted.`,
        act: ({ id }) => call('DELETE /platform/api/v1/accounts/:id', { id }),
      }}
    >
      <LedgerCheck />
    </CrudPage>
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
  const check = (): Promise<void> => checking.start(checkAll, { done: 'Ledger check finished. See Platform.' });
  const isWhole = ledger?.invariants.length === ledger?.steps;
  return (
    <>
      <h2>Ledger</h2>
      <p>Checks the invariants of events, deliveries and attempts in the database. This can take minutes.</p>
      <button type="button" disabled={since !== null} aria-busy={since !== null} onClick={() => void check()}>
        {' '}
        Check ledger{' '}
      </button>
      <Working
        on={since}
        what="Checking the ledger"
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
            {!ledger.ok && <span class="badge bad">Violations found</span>}
            {ledger.ok && isWhole && <span class="badge good">No violations</span>}
          </p>
          <Table
            caption="Invariants"
            rows={ledger.invariants}
            keyOf={({ id }) => id}
            empty={null}
            columns={[
              { title: 'ID', cell: ({ id }) => id },
              { title: 'Invariant', kind: 'text', cell: ({ name }) => name },
              {
                title: 'Violations',
                kind: 'text',
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
