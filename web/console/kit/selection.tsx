import type { ComponentChildren } from 'preact';

/** Rows of a table that a person has selected. */
export interface Selection<Row> {
  selected: ReadonlySet<number>;
  onChange: (selected: ReadonlySet<number>) => void;
  idOf: (row: Row) => number;
  /** Name of a row for screen readers. */
  nameOf: (row: Row) => string;
}

/** Checkbox that selects all rows of the page, or none. */
export function SelectAll<Row>({ rows, selection }: { rows: readonly Row[]; selection: Selection<Row> }) {
  const { selected, onChange, idOf } = selection;
  const ids = rows.map(idOf);
  const chosen = ids.filter((id) => selected.has(id)).length;
  return (
    <input
      type="checkbox"
      aria-label="Select all on this page"
      checked={chosen === ids.length}
      // A property of the element alone, which no attribute sets.
      ref={(box) => {
        if (box) box.indeterminate = chosen > 0 && chosen < ids.length;
      }}
      onChange={({ currentTarget }) => onChange(new Set(currentTarget.checked ? ids : []))}
    />
  );
}

/** Checkbox of a row. */
export function SelectRow<Row>({ row, selection }: { row: Row; selection: Selection<Row> }) {
  const { selected, onChange, idOf, nameOf } = selection;
  const id = idOf(row);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(row)}`}
      checked={selected.has(id)}
      onChange={({ currentTarget }) => {
        const rest = [...selected].filter((one) => one !== id);
        onChange(new Set(currentTarget.checked ? [...rest, id] : rest));
      }}
    />
  );
}

/** Number of selected rows, with what can be done with them; nothing while none is selected. */
export function SelectionBar({
  count,
  clear,
  children,
}: {
  count: number;
  clear: () => void;
  children: ComponentChildren;
}) {
  if (count === 0) return null;
  return (
    <div class="actions selection" role="group" aria-label="Selection">
      <span role="status">{count} selected</span>
      {children}
      <button type="button" class="quiet" onClick={clear}>
        Clear selection
      </button>
    </div>
  );
}
