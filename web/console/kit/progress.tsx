/** How far a long action is; without `total` only that it goes on. */
export function Progress({ label, done, total }: { label: string; done: number; total?: number | undefined }) {
  const text = total === undefined ? `${done}` : `${done} of ${total}`;
  return (
    <p role="status">
      {label}: {text}{' '}
      <progress aria-label={label} {...(total === undefined ? {} : { value: done, max: Math.max(total, 1) })} />
    </p>
  );
}
