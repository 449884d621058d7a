/** A label: its title, with a dot of its colour where that is known. */
export function LabelMark({ title, color }: { title: string; color?: string | undefined }) {
  return (
    <span class="label">
      {color !== undefined && (
        <svg width="10" height="10" aria-hidden="true">
          <circle cx="5" cy="5" r="5" fill={color} />
        </svg>
      )}
      {title}
    </span>
  );
}
