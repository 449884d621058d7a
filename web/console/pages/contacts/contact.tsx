import './contacts.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { ServiceError } from '../../../shared/service-error.ts';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { useLive, useReloadOn } from '../../kit/live.ts';
import { LabelMark } from '../../kit/label-mark.tsx';
import { LabelsDialog } from '../../kit/labels-dialog.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Progress } from '../../kit/progress.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toast.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';
import { attributeFacts, useDefinitions, visitorFacts, type Definition } from '../conversations/attributes.tsx';
import { OtherConversations } from '../conversations/other-conversations.tsx';
import { nameOf } from '../conversations/words.tsx';
import { ContactForm } from './contact-form.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { Notes } from './notes.tsx';
import { StartDialog } from './start-dialog.tsx';

/** A contact with its labels. */
type Contact = Reply<'GET contacts/:id'> & { labels: string[] };

/** Properties of a dialog about a contact. */
export interface ContactDialog {
  contact: Contact;
  changed: () => Promise<void>;
  close: () => void;
}

const dialogs = [
  ['Write', StartDialog],
  ['Labels', ContactLabels],
  ['Merge', MergeDialog],
] as const;

/** Page of a contact: who it is, what agents noted, and its conversations. */
export function ContactPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const contact = useLoad((signal) => read(id, signal), [id]);
  const [isEdited, setEdited] = useState(false);
  const definitions = useDefinitions();
  useReloadOn(({ event, payload }) => event === 'contact_updated' && payload?.['id'] === id, contact.reload);
  const [gone, setGone] = useState<{ into: number | null } | null>(null);
  useLive((event) => {
    if (event !== 'missed' && event.event === 'contact_deleted' && event.payload?.['id'] === id)
      setGone({ into: (event.payload['merged_into_id'] as number | null | undefined) ?? null });
  });
  const { value, reload } = contact;
  // Administrators see how far a deletion is, after it was told as well.
  const isWatched = isAdministrator() && value !== null && value.deletion_requested_at !== null;
  const isShown = value !== null && value.deletion_requested_at === null && gone === null;
  return (
    <Page
      title={value ? nameOf(value) : 'Contact'}
      actions={isShown && !isEdited && <Ways contact={value} changed={reload} edit={() => setEdited(true)} />}
    >
      {gone && !isWatched && <Gone into={gone.into} />}
      <Show of={contact}>
        {(present) => (
          <>
            {(isWatched || (gone === null && present.deletion_requested_at !== null)) && <Deletion id={id} />}
            <div class="contact-page">
              <section class="panel" aria-labelledby="about">
                <h2 id="about">About</h2>
                {isEdited ? (
                  <EditedContact contact={present} changed={reload} close={() => setEdited(false)} />
                ) : (
                  <Facts facts={factsOf(present, definitions)} />
                )}
              </section>
              <Notes contactId={id} />
              <section class="panel" aria-labelledby="conversations-of">
                <h2 id="conversations-of">Conversations</h2>
                <OtherConversations contactId={id} conversationId={null} />
              </section>
            </div>
          </>
        )}
      </Show>
    </Page>
  );
}

async function read(id: number, signal: AbortSignal): Promise<Contact> {
  const [contact, { payload: labels }] = await Promise.all([
    call('GET contacts/:id', { id, signal }),
    call('GET contacts/:id/labels', { id, signal }),
  ]);
  return { ...contact, labels };
}

function factsOf(contact: Contact, definitions: readonly Definition[]): (readonly [string, ComponentChildren])[] {
  const { email, phone_number: phone, identifier, labels, last_activity_at: active, created_at: since } = contact;
  return [
    ['State', contact.blocked ? <span class="badge bad">Blocked</span> : null],
    ['Email', email],
    ['Phone', phone],
    ['Identifier', identifier],
    ['Labels', labels.length === 0 ? null : labels.map((title) => <LabelMark key={title} title={title} />)],
    ...attributeFacts(contact.custom_attributes, definitions, 'contact_attribute'),
    ...visitorFacts(contact.visitor_attributes, definitions),
    ['Last activity', active === null ? null : <Time key="active" at={active} />],
    ['Created', <Time key="since" at={since} />],
  ];
}

function Ways({ contact, changed, edit }: Omit<ContactDialog, 'close'> & { edit: () => void }) {
  const { id, blocked } = contact;
  const [shown, setShown] = useState<(typeof dialogs)[number][0] | null>(null);
  const Shown = dialogs.find(([name]) => name === shown)?.[1];
  async function block(): Promise<void> {
    await call('PATCH contacts/:id', { id, body: { blocked: !blocked } });
    await changed();
  }
  return (
    <>
      {dialogs.map(([name], index) => (
        <button key={name} type="button" class={index === 0 ? 'primary' : undefined} onClick={() => setShown(name)}>
          {name}
        </button>
      ))}
      <button type="button" onClick={edit}>
        Edit
      </button>
      <Action act={block} done={blocked ? 'Unblocked. The contact can write again.' : 'Blocked. Messages are refused.'}>
        {blocked ? 'Unblock' : 'Block'}
      </Action>
      {isAdministrator() && <DeleteContact contact={contact} changed={changed} />}
      {Shown && <Shown contact={contact} changed={changed} close={() => setShown(null)} />}
    </>
  );
}

function ContactLabels({ contact: { id, labels }, changed, close }: ContactDialog) {
  async function save(chosen: string[]): Promise<void> {
    await call('POST contacts/:id/labels', { id, body: { labels: chosen } });
    await changed();
  }
  return <LabelsDialog labels={labels} save={save} close={close} />;
}

function EditedContact({ contact, changed, close }: ContactDialog) {
  const { id } = contact;
  return (
    <ContactForm
      id={id}
      saved={contact}
      submit="Save"
      send={async (body) => {
        await call('PATCH contacts/:id', { id, body });
        toast('Saved.');
        await changed();
        close();
      }}
      cancel={close}
    />
  );
}

function DeleteContact({ contact, changed }: Omit<ContactDialog, 'close'>) {
  const { id } = contact;
  async function remove(): Promise<void> {
    const { conversations_left: left } = await call('DELETE contacts/:id', { id });
    if (left !== undefined) return changed();
    toast('Contact deleted.');
    go('/console/contacts');
  }
  return (
    <Action
      kind="danger"
      question={`Delete ${nameOf(contact)} with all conversations, messages and files? This cannot be undone.`}
      act={remove}
    >
      Delete
    </Action>
  );
}

function Gone({ into }: { into: number | null }) {
  return (
    <p class="note" role="status">
      {into === null ? 'This contact was deleted.' : 'This contact was merged into another one. '}
      {into !== null && <a href={`/console/contacts/${into}`}>Open the other contact</a>}
    </p>
  );
}

// A contact with many conversations is deleted in the background; a repeated request tells how far that is.
function Deletion({ id }: { id: number }) {
  const [left, setLeft] = useState<number | null>(null);
  const mayAsk = isAdministrator();
  async function ask(): Promise<void> {
    try {
      setLeft((await call('DELETE contacts/:id', { id })).conversations_left ?? 0);
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) go('/console/contacts');
    }
  }
  useRepeat(mayAsk, ask);
  return left === null ? (
    <p class="note" role="status">
      This contact is being deleted.
    </p>
  ) : (
    <Progress label="Conversations still to be deleted" done={left} />
  );
}
