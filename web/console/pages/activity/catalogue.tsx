import { Json } from '../../kit/code.tsx';
import { Page } from '../../kit/page.tsx';
import { setQuery } from '../../router.ts';
import type { ViewProps } from '../../page-row.ts';
import { TextField } from '../../kit/form.tsx';
import { eventExamples } from './event-examples.ts';

/** Every event of the service, with a body as webhooks and bots get it. */
export function CataloguePage({ query }: ViewProps) {
  const wanted = query.get('q') ?? '';
  const found = eventExamples.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <Page title="Event catalogue">
      <p>
        Events of the account, for webhooks and bots. See also the <a href="/docs">API reference</a>.
      </p>
      <search class="filters">
        <TextField label="Search" type="search" value={wanted} onChange={(q) => setQuery({ q })} />
      </search>
      {found.length === 0 && <p class="empty">No events match your search.</p>}
      {found.map(({ name, audience, description, body }) => (
        <section key={`${audience} ${name}`} class="panel">
          <h2>
            <code>{name}</code> <small class="badge">{audience === 'account' ? 'webhooks' : 'bots'}</small>
          </h2>
          <p>{description}</p>
          <details>
            <summary>Example</summary>
            <Json label={`${name} for ${audience === 'account' ? 'webhooks' : 'bots'}`} value={body} />
          </details>
        </section>
      ))}
    </Page>
  );
}
