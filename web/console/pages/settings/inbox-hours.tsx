import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { CheckField, Field, Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';

type Inbox = Reply<'GET inboxes/:id'>;
type Day = Inbox['working_hours'][number];

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const kinds = [
  ['hours', 'Open from … to …'],
  ['open', 'Open all day'],
  ['closed', 'Closed'],
] as const;
const noHours = { open_hour: null, open_minutes: null, close_hour: null, close_minutes: null };
const usualHours = { open_hour: 9, open_minutes: 0, close_hour: 17, close_minutes: 0 };
const endOfDay = 24;

/** When people are there in an inbox, and what customers are told when nobody is. */
export function InboxHours({ inbox, changed }: { inbox: Inbox; changed: (inbox: Inbox) => void }) {
  const [isKept, setKept] = useState(inbox.working_hours_enabled);
  const [days, setDays] = useState(inbox.working_hours);
  const [message, setMessage] = useState(inbox.out_of_office_message ?? '');
  async function send(): Promise<void> {
    const hours = days.map((day) => ({ ...day }));
    const body = { working_hours_enabled: isKept, working_hours: hours, out_of_office_message: message };
    changed(await call('PATCH inboxes/:id', { id: inbox.id, body }));
    toast('Saved.');
  }
  const set = (day: Day): void => setDays(days.map((one) => (one.day_of_week === day.day_of_week ? day : one)));
  return (
    <Form submit="Set the working hours" send={send}>
      {(problemOf) => (
        <>
          <CheckField label={`Keep working hours, ${inbox.timezone}`} checked={isKept} onChange={setKept} />
          {days.map((day, index) => (
            <DayFields key={day.day_of_week} day={day} set={set} problem={problemOf(`working_hours/${index}`)} />
          ))}
          <TextField
            label="Out of office"
            hint="Said instead of the greeting outside of the working hours; empty for nothing"
            rows={2}
            value={message}
            onChange={setMessage}
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
            hint="00:00 is the end of the day"
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
