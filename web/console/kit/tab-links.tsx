interface Props {
  /** Name of the group for screen readers. */
  label: string;
  links: readonly (readonly [href: string, text: string])[];
  /** The address of the present page. */
  present: string;
}

/** Links to the pages of one record, drawn as tabs. */
export function TabLinks({ label, links, present }: Props) {
  return (
    <nav class="tabs" aria-label={label}>
      {links.map(([href, text]) => (
        <a key={href} href={href} aria-current={href === present ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
