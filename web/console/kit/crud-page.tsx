import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isAdministrator } from '../session.ts';
import { Action } from './action.tsx';
import { Show, useLoad } from './load.tsx';
import { Page } from './page.tsx';
import { Pages } from './pages.tsx';
import { RecordDialog, type RecordForm } from './record-form.tsx';
import { Table, type Column } from './table.tsx';

interface Listed<Row> {
  payload: readonly Row[];
  meta?: object | undefined;
}

interface Props<Row extends { id: number }, Draft extends object> {
  title: string;
  caption: string;
  /** Parameters of the list, such as the number of its page: another value loads it again. */
  inputs?: readonly unknown[];
  /** Fields above the list that filter it. */
  filters?: ComponentChildren;
  load: (signal: AbortSignal) => Promise<Listed<Row>>;
  columns: readonly Column<Row>[];
  form: RecordForm<Row, Draft>;
  remove: Removal<Row>;
  /** Shown where there are no records. */
  empty: ComponentChildren;
  /** The text of the button that edits a record. */
  editText?: string;
  /** Default: administrators may create, edit and delete. */
  mayChange?: boolean;
  mayEdit?: (row: Row) => boolean;
  mayRemove?: (row: Row) => boolean;
  /** More actions of a row, before its deletion. */
  more?: (row: Row) => ComponentChildren;
  /** Content below the list, as soon as the list is loaded. */
  children?: ComponentChildren;
}

interface Removal<Row> {
  /** The verb on the button. Default: Delete. */
  verb?: string;
  /** Consequences, as the question says them. */
  question: (name: string) => string;
  done: (name: string) => string;
  act: (row: Row) => Promise<unknown>;
}

/** A page that lists the records of a small resource, with a dialog that creates and edits them, and their deletion. */
export function CrudPage<Row extends { id: number }, Draft extends object>(props: Props<Row, Draft>) {
  const { title, caption, inputs = [], filters, columns, form, empty, mayChange = isAdministrator(), children } = props;
  const list = useLoad(props.load, inputs);
  const [edited, setEdited] = useState<Row | 'new' | null>(null);
  const actions: Column<Row> = {
    title: 'Actions',
    kind: 'fit',
    cell: (row) => <RowActions row={row} props={props} edit={() => setEdited(row)} changed={list.reload} />,
  };
  const hasActions = mayChange || props.mayEdit !== undefined;
  return (
    <Page
      title={title}
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            {form.create?.title ?? `New ${form.noun}`}
          </button>
        )
      }
    >
      {filters && <search class="filters">{filters}</search>}
      <Show of={list}>
        {({ payload, meta }) => (
          <>
            <Table
              caption={caption}
              rows={payload}
              keyOf={({ id }) => id}
              empty={empty}
              columns={hasActions ? [...columns, actions] : columns}
            />
            {meta && 'total_pages' in meta && <Pages meta={meta as Parameters<typeof Pages>[0]['meta']} />}
            {children}
          </>
        )}
      </Show>
      {edited && (
        <RecordDialog
          form={form}
          record={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void list.reload();
          }}
        />
      )}
    </Page>
  );
}

interface ActionsProps<Row extends { id: number }, Draft extends object> {
  row: Row;
  props: Props<Row, Draft>;
  edit: () => void;
  changed: () => Promise<void>;
}

function RowActions<Row extends { id: number }, Draft extends object>({
  row,
  props: { form, remove, editText = 'Edit', more, mayEdit, mayRemove },
  edit,
  changed,
}: ActionsProps<Row, Draft>) {
  const name = form.nameOf(row);
  const verb = remove.verb ?? 'Delete';
  return (
    <div class="actions">
      {(mayEdit?.(row) ?? true) && (
        <button type="button" aria-label={`${editText} ${name}`} onClick={edit}>
          {editText}
        </button>
      )}
      {more?.(row)}
      {(mayRemove?.(row) ?? true) && (
        <Action
          kind="danger"
          label={`${verb} ${name}`}
          question={remove.question(name)}
          done={remove.done(name)}
          act={async () => {
            await remove.act(row);
            await changed();
          }}
        >
          {verb}
        </Action>
      )}
    </div>
  );
}
