import { useEffect, useMemo } from 'preact/hooks';
import './conversations.css';
import { useStore } from '../../../shared/store.ts';
import { Trace } from '../../../shared/trace/trace.ts';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator, live } from '../../session.ts';
import { Actions } from './actions.tsx';
import { ConversationAttributes, useDefinitions } from './attributes.tsx';
import { Composer } from './composer.tsx';
import { ContactPanel } from './contact.tsx';
import { ServingPanel } from './serving.tsx';
import { State } from './state.tsx';
import { OtherEvents } from './other-events.tsx';
import { Transcript } from './transcript.ts';
import { TranscriptView } from './transcript-view.tsx';
import { useSeen } from './use-seen.ts';
import { nameOf, type Conversation } from './words.tsx';

/** Lanes reach so many events back. */
const tracedEvents = 500;

/** Page of a conversation: transcript, traces of bots, and the actions of agents. */
export function ConversationPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const conversation = useLoad((signal) => call('GET conversations/:id', { id, signal }), [id]);
  useReloadOn((event) => event.conversation_id === id, conversation.reload);
  const { value, set } = conversation;
  return (
    <Page
      title={value ? nameOf(value.contact) : 'Conversation'}
      actions={value && <Actions conversation={value} changed={set} />}
    >
      <Show of={conversation}>{(shown) => <ConversationView conversation={shown} changed={set} />}</Show>
    </Page>
  );
}

interface ViewOptions {
  conversation: Conversation;
  changed: (conversation: Conversation) => void;
}

function ConversationView({ conversation, changed }: ViewOptions) {
  const { id } = conversation;
  const reader = useMemo(() => ({ call, live, isAdministrator: isAdministrator() }), []);
  const trace = useMemo(() => new Trace(reader, id, tracedEvents), [reader, id]);
  const transcript = useMemo(() => new Transcript(reader, id), [reader, id]);
  useEffect(() => trace.start(), [trace]);
  useEffect(() => transcript.start(), [transcript]);
  const traced = useStore(trace.state);
  const definitions = useDefinitions();
  useSeen(conversation, changed);
  return (
    <>
      <State conversation={conversation} />
      <div class="conversation">
        <div class="talk">
          <TranscriptView transcript={transcript} traced={traced} reader={reader} />
          <Composer conversation={conversation} sent={(message) => transcript.add(message)} />
        </div>
        <div class="beside">
          <ServingPanel conversation={conversation} serving={traced.serving} changed={changed} />
          <ContactPanel conversation={conversation} changed={changed} definitions={definitions} />
          <ConversationAttributes conversation={conversation} definitions={definitions} />
          <OtherEvents traced={traced} reader={reader} conversationId={id} />
        </div>
      </div>
    </>
  );
}
