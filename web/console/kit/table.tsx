import type { ComponentChildren } from 'preact';
import { SelectAll, SelectRow, type Selection } from './selection.tsx';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /**
   * `line` cuts long content at the end of the line, `text` wraps it, and `fit` is for content that is short and has no
   * spaces of its own to break at, such as times. Default: content wraps between words only.
   */
  kind?: 'line' | 'text' | 'fit';
  /** Left out on screens below 1200 pixels. */
  isExtra?: boolean;
}

interface Props<Row> {
  /** Name of the table for screen readers. */
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => number | string;
  /** Shown in place of the table where there are no rows. */
  empty: ComponentChildren;
  /** Rows that can be selected have a checkbox. */
  selection?: Selection<Row>;
}

/** A table; on narrow screens each row becomes a block, with the titles beside the cells. */
export function Table<Row>({ caption, rows, columns, keyOf, empty, selection }: Props<Row>) {
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {selection && (
            <th scope="col" class="fit select">
              <SelectAll rows={rows} selection={selection} />
            </th>
          )}
          {columns.map((column) => (
            <th key={column.title} scope="col" class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {selection && (
              <td class="fit select">
                <SelectRow row={row} selection={selection} />
              </td>
            )}
            {columns.map((column) => (
              <Cell key={column.title} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const content = column.cell(row);
  // Cut text is shown whole by a tooltip.
  const whole = column.kind === 'line' && typeof content === 'string' ? content : undefined;
  return (
    <td data-title={column.title} class={classOf(column)} title={whole}>
      {content}
    </td>
  );
}

function classOf<Row>({ kind, isExtra = false }: Column<Row>): string | undefined {
  return [kind, isExtra && 'extra'].filter(Boolean).join(' ') || undefined;
}
