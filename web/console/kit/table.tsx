import type { ComponentChildren } from 'preact';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** What the table shows, for readers of the screen. */
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => number | string;
  /** What to do where there are no rows. */
  empty: ComponentChildren;
}

/** A table; on narrow screens each row becomes a block, with the titles beside the cells. */
export function Table<Row>({ caption, rows, columns, keyOf, empty }: Props<Row>) {
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell }) => (
              <td key={title} data-title={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
