import { useState } from 'preact/hooks';
import type { Body } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { go } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';

type Channel = NonNullable<Body<'POST inboxes'>['channel_type']>;

const channels = [
  ['Channel::WebWidget', 'Website chat'],
  ['Channel::Api', 'API'],
] as const satisfies readonly (readonly [Channel, string])[];

/** The inboxes of the account, each with a page of its own. */
export function InboxesPage() {
  const inboxes = useLoad((signal) => call('GET inboxes', { signal }));
  const [isMaking, setMaking] = useState(false);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Inboxes"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New inbox
          </button>
        )
      }
    >
      <Show of={inboxes}>
        {({ payload }) => (
          <Table
            caption="Inboxes"
            rows={payload}
            keyOf={({ id }) => id}
            empty={
              mayChange ? (
                <p>No inboxes yet. Create one to receive messages from a website or the API.</p>
              ) : (
                <p>You are not a member of any inbox yet. Administrators add members.</p>
              )
            }
            columns={[
              {
                title: 'Name',
                kind: 'text',
                cell: ({ id, name }) => <a href={`/console/settings/inboxes/${id}`}>{name}</a>,
              },
              { title: 'Channel', kind: 'fit', cell: ({ channel_type: channel }) => nameOfChannel(channel) },
              { title: 'Time zone', kind: 'text', cell: ({ timezone }) => timezone },
              { title: 'Chat page', kind: 'fit', cell: ({ identifier }) => <a href={`/chat/${identifier}`}>Open</a> },
            ]}
          />
        )}
      </Show>
      {isMaking && <NewInbox close={() => setMaking(false)} />}
    </Page>
  );
}

/** A channel in words. */
export function nameOfChannel(channel: string): string {
  return channels.find(([one]) => one === channel)?.[1] ?? channel.replace(/^Channel::/, '');
}

function NewInbox({ close }: { close: () => void }) {
  const [name, setName] = useState('');
  const [channel, setChannel] = useState<Channel>('Channel::WebWidget');
  async function send(): Promise<void> {
    const { id } = await call('POST inboxes', { body: { name, channel_type: channel } });
    go(`/console/settings/inboxes/${id}`);
  }
  return (
    <Dialog title="New inbox" onClose={close}>
      <Form submit="Create" send={send}>
        {(problemOf) => (
          <>
            <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />
            <ChoiceField
              label="Channel"
              value={channel}
              onChange={setChannel}
              options={channels}
              problem={problemOf('channel_type')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
