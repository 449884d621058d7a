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

/** One inbox: how customers reach it, who answers, and its settings. */
export function InboxPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const inbox = useLoad((signal) => call('GET inboxes/:id', { id, signal }), [id]);
  return (
    <Page title={inbox.value?.name ?? 'Inbox'}>
      <Show of={inbox}>
        {(value) => (
          <>
            <Facts facts={factsOf(value)} />
            <h2>On a web page</h2>
            <p>
              The chat appears on every page that has this line
              {value.allowed_origins.length === 0
                ? '; so far on pages of this service only: allow origins below.'
                : '.'}{' '}
              Its own page is <a href={`/chat/${value.identifier}`}>the chat page</a>.
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
    ['Greeting', inbox.greeting_enabled ? inbox.greeting_message || 'On, but empty' : 'Off'],
    ['Working hours', inbox.working_hours_enabled ? `Kept, ${inbox.timezone}` : 'Always open'],
    [
      'Identities',
      inbox.identity_verification ? 'Proven by the identity secret' : 'Not verified: there is no identity secret',
    ],
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
      <h2>Who answers</h2>
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
      <h2>Identity of customers</h2>
      <IdentitySecret inbox={inbox} changed={changed} />
      <h2>End of this inbox</h2>
      <Action
        kind="danger"
        question={`Deleting “${name}” deletes all its conversations with their messages.`}
        done={`“${name}” is deleted.`}
        act={async () => {
          await call('DELETE inboxes/:id', { id });
          go('/console/settings/inboxes');
        }}
      >
        Delete the inbox
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
        With an identity secret your server proves who a customer is: <code>data-identifier-hash</code> is the
        HMAC-SHA256 of <code>data-identifier</code> by the secret, in hexadecimal digits.
      </p>
      {secret !== null && (
        <>
          <Code label="Identity secret" text={secret} />
          <p class="note">It is shown only this once: keep it on your server.</p>
        </>
      )}
      <Action
        {...(inbox.identity_verification
          ? { question: 'Proofs that were made with the present secret are refused from then on.' }
          : {})}
        act={rotate}
      >
        {inbox.identity_verification ? 'Make another identity secret' : 'Make an identity secret'}
      </Action>
    </>
  );
}
