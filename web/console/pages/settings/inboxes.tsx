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
  ['Channel::WebWidget', 'Chat on a web page'],
  ['Channel::Api', 'Anything, by the API'],
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
                <p>
                  There are no inboxes yet. Make one with “New inbox”: customers write to it from a web page, or through
                  the API.
                </p>
              ) : (
                <p>You belong to no inbox yet. An administrator can make you a member of one.</p>
              )
            }
            columns={[
              { title: 'Name', cell: ({ id, name }) => <a href={`/console/settings/inboxes/${id}`}>{name}</a> },
              { title: 'Channel', cell: ({ channel_type: channel }) => nameOfChannel(channel) },
              { title: 'Time zone', cell: ({ timezone }) => timezone },
              { title: 'Chat page', cell: ({ identifier }) => <a href={`/chat/${identifier}`}>Open</a> },
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
