import type { Reply } from '../../../shared/call.ts';
import { useDraft } from '../../kit/draft.ts';
import { CheckField, ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';

type Inbox = Reply<'GET inboxes/:id'>;

const zones = Intl.supportedValuesOf('timeZone');

/** The settings of an inbox. */
export function InboxForm({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const kept = useDraft(`inbox ${inbox.id}`, draftOf(inbox));
  const { value: draft, set } = kept;
  async function send(): Promise<void> {
    const body = {
      ...draft,
      allowed_origins: draft.allowed_origins.split(/\s+/).filter((origin) => origin !== ''),
    };
    changed(await call('PATCH inboxes/:id', { id: inbox.id, body }));
    kept.saved(draft);
    toast('Saved.');
  }
  const options = (zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones]).map(
    (zone) => [zone, zone] as const,
  );
  return (
    <Form submit="Save" send={send} draft={kept}>
      {(problemOf) => (
        <>
          <TextField
            label="Name"
            required
            value={draft.name}
            onChange={(name) => set({ name })}
            problem={problemOf('name')}
          />
          <TextField
            label="Allowed origins"
            hint="Origins that can show the chat, one per line, such as https://www.example.com. Leave empty for pages of this service only."
            rows={3}
            value={draft.allowed_origins}
            onChange={(origins) => set({ allowed_origins: origins })}
            problem={problemOf('allowed_origins') ?? problemOf('allowed_origins/0')}
          />
          <CheckField
            label="Send a greeting"
            checked={draft.greeting_enabled}
            onChange={(checked) => set({ greeting_enabled: checked })}
          />
          <TextField
            label="Greeting"
            rows={2}
            value={draft.greeting_message}
            onChange={(text) => set({ greeting_message: text })}
            problem={problemOf('greeting_message')}
          />
          <CheckField
            label="Assign conversations to members automatically"
            checked={draft.enable_auto_assignment}
            onChange={(checked) => set({ enable_auto_assignment: checked })}
          />
          <CheckField
            label="Send a satisfaction survey after resolution"
            checked={draft.csat_survey_enabled}
            onChange={(checked) => set({ csat_survey_enabled: checked })}
          />
          <ChoiceField
            label="Time zone"
            value={draft.timezone}
            onChange={(timezone) => set({ timezone })}
            options={options}
            problem={problemOf('timezone')}
          />
        </>
      )}
    </Form>
  );
}

function draftOf(inbox: Inbox) {
  return {
    name: inbox.name,
    greeting_enabled: inbox.greeting_enabled,
    greeting_message: inbox.greeting_message ?? '',
    enable_auto_assignment: inbox.enable_auto_assignment,
    csat_survey_enabled: inbox.csat_survey_enabled,
    timezone: inbox.timezone,
    allowed_origins: inbox.allowed_origins.join('\n'),
  };
}
