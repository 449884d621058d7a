import { Table } from '../../kit/table.tsx';
import type { ComponentChildren } from 'preact';
import { describeExpectation } from './eval-cases.ts';
import type { EvalRow } from './eval-rows.ts';

interface Props {
  rows: readonly EvalRow[];
  isRunning: boolean;
  empty: ComponentChildren;
  edit: (index: number) => void;
  remove: (index: number) => void;
}

/** Cases with their results. */
export function EvalTable({ rows, isRunning, empty, edit, remove }: Props) {
  return (
    <Table
      caption="Cases"
      rows={rows.map((row, place) => ({ ...row, place }))}
      keyOf={({ place }) => place}
      empty={empty}
      columns={[
        { title: 'Result', kind: 'fit', cell: (row) => <Result row={row} isRunning={isRunning} /> },
        { title: 'Question', kind: 'text', cell: (row) => <Question row={row} /> },
        { title: 'Expected', kind: 'text', cell: ({ expect }) => (expect ? describeExpectation(expect) : '–') },
        { title: 'Bot', kind: 'text', cell: (row) => <Got row={row} /> },
        {
          title: 'Actions',
          kind: 'fit',
          cell: (row) => (isRunning ? null : <Actions row={row} edit={edit} remove={remove} />),
        },
      ]}
    />
  );
}

function Result({ row: { result }, isRunning }: { row: EvalRow; isRunning: boolean }) {
  if (!result) return <span class="badge">{isRunning ? 'Waiting' : 'Not run'}</span>;
  return result.passed ? <span class="badge good">Passed</span> : <span class="badge bad">Failed</span>;
}

function Question({ row: { question, before } }: { row: EvalRow }) {
  return (
    <>
      <span class="quote">{question}</span>
      {before > 0 && (
        <small class="faint">
          After {before} {before === 1 ? 'message' : 'messages'}
        </small>
      )}
    </>
  );
}

const kinds = {
  fixed: ['good', 'Fixed'],
  broken: ['bad', 'Broken'],
  changed: ['wait', 'Changed'],
  new: ['', 'New'],
  gone: ['', 'Gone'],
} as const;

function Got({ row: { result, change } }: { row: EvalRow }) {
  if (!result) return <>–</>;
  const [color, word] = change ? kinds[change.kind] : ['', ''];
  return (
    <>
      {change && change.kind !== 'new' && <span class={`badge ${color}`}>{word}</span>}{' '}
      <span class="got">{readable(result.got)}</span>
      {change && change.before !== null && change.before !== result.got && (
        <small class="faint got before">Before: {readable(change.before)}</small>
      )}
    </>
  );
}

// The service quotes replies as JSON.
function readable(got: string): string {
  return got.replaceAll('\\n', '\n').replaceAll('\\"', '"');
}

function Actions({ row: { index, question }, edit, remove }: Pick<Props, 'edit' | 'remove'> & { row: EvalRow }) {
  if (index === null) return null;
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit case: ${question}`} onClick={() => edit(index)}>
        Edit
      </button>
      <button type="button" class="danger" aria-label={`Delete case: ${question}`} onClick={() => remove(index)}>
        Delete
      </button>
    </div>
  );
}
