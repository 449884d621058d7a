import type { Reply } from '../../../shared/call.ts';
import { useDraft } from '../../kit/draft.ts';
import { CheckField, Field, Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';

type Inbox = Reply<'GET inboxes/:id'>;
type Day = Inbox['working_hours'][number];

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const kinds = [
  ['hours', 'Open from … to'],
  ['open', 'Open all day'],
  ['closed', 'Closed'],
] as const;
const noHours = { open_hour: null, open_minutes: null, close_hour: null, close_minutes: null };
const usualHours = { open_hour: 9, open_minutes: 0, close_hour: 17, close_minutes: 0 };
const endOfDay = 24;

/** The working hours of an inbox, and the message that customers get outside of them. */
export function InboxHours({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const draft = useDraft(`inbox hours ${inbox.id}`, {
    working_hours_enabled: inbox.working_hours_enabled,
    working_hours: inbox.working_hours,
    out_of_office_message: inbox.out_of_office_message ?? '',
  });
  const { working_hours_enabled: isKept, working_hours: days, out_of_office_message: message } = draft.value;
  async function send(): Promise<void> {
    const hours = days.map((day) => ({ ...day }));
    changed(await call('PATCH inboxes/:id', { id: inbox.id, body: { ...draft.value, working_hours: hours } }));
    draft.saved(draft.value);
    toast('Working hours saved.');
  }
  const set = (day: Day): void =>
    draft.set({ working_hours: days.map((one) => (one.day_of_week === day.day_of_week ? day : one)) });
  return (
    <Form submit="Save working hours" send={send} draft={draft}>
      {(problemOf) => (
        <>
          <CheckField
            label={`Working hours (${inbox.timezone})`}
            checked={isKept}
            onChange={(checked) => draft.set({ working_hours_enabled: checked })}
          />
          {days.map((day, index) => (
            <DayFields key={day.day_of_week} day={day} set={set} problem={problemOf(`working_hours/${index}`)} />
          ))}
          <TextField
            label="Out-of-office message"
            hint="Sent instead of the greeting outside working hours. Leave empty to send nothing."
            rows={2}
            value={message}
            onChange={(text) => draft.set({ out_of_office_message: text })}
            problem={problemOf('out_of_office_message')}
          />
        </>
      )}
    </Form>
  );
}

interface DayProps {
  day: Day;
  set: (day: Day) => void;
  problem: string | undefined;
}

function DayFields({ day, set, problem }: DayProps) {
  const name = dayNames[day.day_of_week] ?? '';
  const kind = day.closed_all_day ? 'closed' : day.open_all_day ? 'open' : 'hours';
  function choose(chosen: string): void {
    const hours = chosen === 'hours' ? usualHours : noHours;
    set({ ...day, ...hours, closed_all_day: chosen === 'closed', open_all_day: chosen === 'open' });
  }
  return (
    <fieldset class="filters">
      <legend>{name}</legend>
      <Field label={`Hours of ${name}`} problem={problem}>
        {(control) => (
          <select {...control} value={kind} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {kinds.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kind === 'hours' && (
        <>
          <TimeField
            label={`${name} from`}
            hour={day.open_hour}
            minutes={day.open_minutes}
            set={(hour, minutes) => set({ ...day, open_hour: hour, open_minutes: minutes })}
          />
          <TimeField
            label={`${name} to`}
            hint="00:00 means the end of the day."
            hour={day.close_hour}
            minutes={day.close_minutes}
            set={(hour, minutes) =>
              set({ ...day, close_hour: hour === 0 && minutes === 0 ? endOfDay : hour, close_minutes: minutes })
            }
          />
        </>
      )}
    </fieldset>
  );
}

interface TimeProps {
  label: string;
  hint?: string;
  hour: number | null;
  minutes: number | null;
  set: (hour: number | null, minutes: number | null) => void;
}

function TimeField({ label, hint, hour, minutes, set }: TimeProps) {
  const digits = (number: number): string => String(number).padStart(2, '0');
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          type="time"
          value={hour === null ? '' : `${digits(hour % endOfDay)}:${digits(minutes ?? 0)}`}
          onChange={({ currentTarget: { value } }) => {
            const [given, rest] = value.split(':').map(Number);
            set(value === '' ? null : (given ?? null), value === '' ? null : (rest ?? 0));
          }}
        />
      )}
    </Field>
  );
}
