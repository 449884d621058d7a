import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Field, Form } from '../../kit/form.tsx';
import { call } from '../../session.ts';
import type { ConversationChange } from './actions.tsx';

interface Props extends ConversationChange {
  close: () => void;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** When people begin to work. */
const morning = 9;

const choices = [
  ['hour', '1 hour'],
  ['three', '3 hours'],
  ['tomorrow', 'Tomorrow, 9:00'],
  ['week', '1 week'],
  ['moment', 'Date and time'],
] as const;
type Choice = (typeof choices)[number][0];

/** End of a snooze: a choice, or a moment of the person's own. */
export interface SnoozeEnd {
  choice: Choice;
  moment: string;
}

export const firstSnoozeEnd: SnoozeEnd = { choice: 'hour', moment: '' };

/** Puts a conversation aside until a moment, or until the customer writes. */
export function SnoozeDialog({ conversation: { id }, changed, close }: Props) {
  const [end, setEnd] = useState<SnoozeEnd>(firstSnoozeEnd);
  async function send(): Promise<void> {
    const body = { status: 'snoozed' as const, snoozed_until: snoozedUntil(end) };
    changed(await call('POST conversations/:id/toggle_status', { id, body }));
    close();
  }
  return (
    <Dialog title="Snooze" onClose={close}>
      <Form submit="Save" send={send} isScratch>
        {(problemOf) => <SnoozeFields end={end} onChange={setEnd} problem={problemOf('snoozed_until')} />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  end: SnoozeEnd;
  onChange: (end: SnoozeEnd) => void;
  problem: string | undefined;
}

/** Fields for the end of a snooze. */
export function SnoozeFields({ end: { choice, moment }, onChange, problem }: FieldsProps) {
  return (
    <>
      <ChoiceField
        label="Snooze until"
        hint="A message from the customer ends the snooze."
        value={choice}
        onChange={(value) => onChange({ choice: value, moment })}
        options={choices}
        problem={choice === 'moment' ? undefined : problem}
      />
      {choice === 'moment' && (
        <Field label="Date and time" problem={problem}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={moment}
              onInput={({ currentTarget }) => onChange({ choice, moment: currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

/** Returns the end of a snooze in Unix seconds; null, for no moment, is refused by the service with its sentence. */
export function snoozedUntil({ choice, moment }: SnoozeEnd): number | null {
  const now = new Date();
  const ends: Record<Choice, () => Date> = {
    hour: () => new Date(now.getTime() + hourMs),
    three: () => new Date(now.getTime() + 3 * hourMs),
    tomorrow: () => new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, morning),
    week: () => new Date(now.getFullYear(), now.getMonth(), now.getDate() + 7, now.getHours(), now.getMinutes()),
    moment: () => new Date(moment),
  };
  const seconds = Math.ceil(ends[choice]().getTime() / 1000);
  return Number.isNaN(seconds) ? null : seconds;
}
