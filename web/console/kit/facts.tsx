import { Fragment, type ComponentChildren } from 'preact';

/** The facts of a record, by name; those that are null or undefined are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined);
  return (
    <dl>
      {/* Names may repeat: those of custom attributes are the account's. */}
      {shown.map(([name, value], index) => (
        <Fragment key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
