import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { CheckField, ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';

type Inbox = Reply<'GET inboxes/:id'>;

const zones = Intl.supportedValuesOf('timeZone');

/** The settings of an inbox. */
export function InboxForm({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const [draft, setDraft] = useState(inbox);
  const [origins, setOrigins] = useState(inbox.allowed_origins.join('\n'));
  const set = (changes: Partial<Inbox>): void => setDraft({ ...draft, ...changes });
  async function send(): Promise<void> {
    const body = {
      name: draft.name,
      greeting_enabled: draft.greeting_enabled,
      greeting_message: draft.greeting_message,
      enable_auto_assignment: draft.enable_auto_assignment,
      csat_survey_enabled: draft.csat_survey_enabled,
      timezone: draft.timezone,
      allowed_origins: origins.split(/\s+/).filter((origin) => origin !== ''),
    };
    changed(await call('PATCH inboxes/:id', { id: inbox.id, body }));
    toast('Saved.');
  }
  const options = (zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones]).map(
    (zone) => [zone, zone] as const,
  );
  return (
    <Form submit="Save" send={send}>
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
            label="Origins that may show the chat"
            hint="One on each line, as https://www.example.com. Without any, only pages of this service show it."
            rows={3}
            value={origins}
            onChange={setOrigins}
            problem={problemOf('allowed_origins') ?? problemOf('allowed_origins/0')}
          />
          <CheckField
            label="Greet customers who write first"
            checked={draft.greeting_enabled}
            onChange={(checked) => set({ greeting_enabled: checked })}
          />
          <TextField
            label="Greeting"
            rows={2}
            value={draft.greeting_message ?? ''}
            onChange={(text) => set({ greeting_message: text })}
            problem={problemOf('greeting_message')}
          />
          <CheckField
            label="Assign conversations to members by itself"
            checked={draft.enable_auto_assignment}
            onChange={(checked) => set({ enable_auto_assignment: checked })}
          />
          <CheckField
            label="Ask for satisfaction after the resolution"
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
