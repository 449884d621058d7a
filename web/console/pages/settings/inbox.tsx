import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';
import { InboxBot } from './inbox-bot.tsx';
import { InboxForm } from './inbox-form.tsx';
import { InboxHours } from './inbox-hours.tsx';
import { nameOfChannel } from './inboxes.tsx';
import { MembersDialog } from './members.tsx';

type Inbox = Reply<'GET inboxes/:id'>;

/** Page of an inbox: embed code, bot, members and settings. */
export function InboxPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const inbox = useLoad((signal) => call('GET inboxes/:id', { id, signal }), [id]);
  return (
    <Page title={inbox.value?.name ?? 'Inbox'}>
      <Show of={inbox}>
        {(value) => (
          <>
            <Facts facts={factsOf(value)} />
            <h2>Website chat</h2>
            <p>
              Add this line to your pages to show the chat, or use the{' '}
              <a href={`/chat/${value.identifier}`}>chat page</a>.{' '}
              {value.allowed_origins.length === 0 && ' First add the origins of your pages below.'}
            </p>
            <Code label="Embed code" text={embedCode(value)} />
            {isAdministrator() && <Administration key={value.id} inbox={value} changed={inbox.set} />}
          </>
        )}
      </Show>
    </Page>
  );
}

function factsOf(inbox: Inbox): (readonly [string, ComponentChildren])[] {
  return [
    ['Channel', nameOfChannel(inbox.channel_type)],
    ['Identifier', <code key="identifier">{inbox.identifier}</code>],
    ['Greeting', inbox.greeting_enabled ? inbox.greeting_message || 'On, without text' : 'Off'],
    ['Working hours', inbox.working_hours_enabled ? `On (${inbox.timezone})` : 'Always open'],
    ['Identity verification', inbox.identity_verification ? 'On' : 'Off: no identity secret'],
  ];
}

function embedCode({ identifier }: Inbox): string {
  return `<script src="${location.origin}/widget.js" data-inbox="${identifier}" async></script>`;
}

function Administration({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const { id, name } = inbox;
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      <h2>Bot and members</h2>
      <InboxBot id={id} />
      <button type="button" onClick={() => setChoosing(true)}>
        Members
      </button>
      {isChoosing && (
        <MembersDialog
          title={`Members of ${name}`}
          load={async () => (await call('GET inboxes/:id/members', { id })).payload.map((member) => member.id)}
          save={(ids) => call('PATCH inboxes/:id/members', { id, body: { user_ids: ids } })}
          close={() => setChoosing(false)}
        />
      )}
      <h2>Settings</h2>
      <div class="panel">
        <InboxForm inbox={inbox} changed={changed} />
      </div>
      <h2>Working hours</h2>
      <div class="panel">
        <InboxHours key={inbox.timezone} inbox={inbox} changed={changed} />
      </div>
      <h2>Identity verification</h2>
      <IdentitySecret inbox={inbox} changed={changed} />
      <h2>Delete inbox</h2>
      <Action
        kind="danger"
        question={`All conversations of “${name}” are deleted with their messages.`}
        done={`Inbox “${name}” deleted.`}
        act={async () => {
          await call('DELETE inboxes/:id', { id });
          go('/console/settings/inboxes');
        }}
      >
        {' '}
        Delete inbox{' '}
      </Action>
    </>
  );
}

function IdentitySecret({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  async function rotate(): Promise<void> {
    const { identity_secret: made, ...rest } = await call('POST inboxes/:id/rotate_identity_secret', { id: inbox.id });
    setSecret(made);
    changed(rest);
  }
  return (
    <>
      <p>
        Prove the identity of signed-in customers: set <code>data-identifier-hash</code> to the hexadecimal HMAC-SHA256
        of <code>data-identifier</code>, keyed with the identity secret.
      </p>
      {secret !== null && (
        <>
          <Code label="Identity secret" text={secret} />
          <p class="note">Shown only once. Store it on your server now.</p>
        </>
      )}
      <Action
        {...(inbox.identity_verification ? { question: 'Hashes made with the current secret are refused.' } : {})}
        act={rotate}
      >
        {inbox.identity_verification ? 'Rotate identity secret' : 'Create identity secret'}
      </Action>
    </>
  );
}
