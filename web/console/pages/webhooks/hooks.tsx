import './webhooks.css';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Code } from '../../kit/code.tsx';
import { CrudPage } from '../../kit/crud-page.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { useLoad } from '../../kit/load.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';

type Hook = Reply<'GET hooks'>['payload'][number];

interface Draft {
  name: string;
  /** `bot 7` or `automation 3`. */
  owner: string;
  handler: string;
}

type Owners = readonly (readonly [value: string, text: string])[];

/** The hooks of the account, to which other systems send requests. */
export function HooksPage({ query }: ViewProps) {
  const page = pageOf(query);
  const [url, setUrl] = useState<string | null>(null);
  const owners = useLoad(readOwners).value ?? [];
  const names = new Map(owners);
  return (
    <>
      <CrudPage
        title="Incoming"
        caption="Hooks"
        inputs={[page]}
        load={(signal) => call('GET hooks', { query: { page }, signal })}
        form={formOf(owners, setUrl)}
        mayEdit={() => false}
        empty={<p>No hooks yet. Create one to have a plugin handle requests of another system.</p>}
        columns={[
          { title: 'Hook', kind: 'text', cell: ({ id, name }) => <a href={`/console/hooks/${id}`}>{name}</a> },
          { title: 'Handled by', kind: 'text', cell: (hook) => names.get(ownerOf(hook)) ?? ownerOf(hook) },
          { title: 'Handler', kind: 'fit', isExtra: true, cell: ({ handler }) => <code>{handler}</code> },
          { title: 'URL', kind: 'fit', isExtra: true, cell: ({ url: shown }) => <code>{shown}</code> },
          { title: 'Last request', kind: 'fit', cell: ({ last_received_at: at }) => <Time at={at} /> },
        ]}
        remove={{
          question: (name) => `“${name}” and its requests are deleted. Requests that wait are not handled.`,
          done: (name) => `Hook “${name}” deleted.`,
          act: ({ id }) => call('DELETE hooks/:id', { id }),
        }}
      />
      {url !== null && <HookUrl url={url} close={() => setUrl(null)} />}
    </>
  );
}

/** Shows the whole URL of a hook, which the service does once. */
export function HookUrl({ url, close }: { url: string; close: () => void }) {
  return (
    <Dialog title="Hook URL" onClose={close}>
      <p>Enter it in the other system. Shown only once: store it now. If it is lost, rotate it.</p>
      <Code label="Hook URL" text={url} />
    </Dialog>
  );
}

/** Returns who handles the requests of a hook, as its form names it. */
export function ownerOf({ agent_bot_id: bot, automation_id: automation, inbox_id: inbox }: Hook): string {
  if (inbox !== null) return `inbox ${inbox}`;
  return automation === null ? `bot ${bot}` : `automation ${automation}`;
}

async function readOwners(signal: AbortSignal): Promise<Owners> {
  const [bots, automations] = await Promise.all([
    call('GET agent_bots', { signal }),
    call('GET automations', { signal }),
  ]);
  const plugins = bots.payload.filter(({ kind }) => kind === 'plugin');
  return [
    ...plugins.map(({ id, name }) => [`bot ${id}`, name] as const),
    ...automations.payload.map(({ id, name }) => [`automation ${id}`, name] as const),
  ];
}

function formOf(owners: Owners, show: (url: string) => void): RecordForm<Hook, Draft> {
  return {
    noun: 'hook',
    nameOf: ({ name }) => name,
    fresh: { name: '', owner: '', handler: '' },
    draftOf: (hook) => ({ name: hook.name, handler: hook.handler, owner: ownerOf(hook) }),
    fields: () => [
      { name: 'name', label: 'Name', hint: 'The other system, such as Shop.', required: true },
      { name: 'owner', label: 'Handled by', options: [['', 'Choose a bot or automation'], ...owners] },
      { name: 'handler', label: 'Handler', hint: 'A name under hooks in the plugin’s plugin.json.', required: true },
    ],
    save: async ({ name, owner, handler }) => {
      const [kind, id] = owner.split(' ');
      const whose =
        kind === 'automation' ? { automation_id: Number(id) } : kind === 'bot' ? { agent_bot_id: Number(id) } : {};
      const { url } = await call('POST hooks', { body: { name, handler, ...whose } });
      show(url);
    },
  };
}
