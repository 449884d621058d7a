import { CrudPage } from '../../kit/crud-page.tsx';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { Time } from '../../kit/time.tsx';
import { call, currentAccount, isAdministrator } from '../../session.ts';
import {
  actionsOf,
  kindOf,
  newStep,
  readOptions,
  stepKinds,
  stepsOf,
  type Macro,
  type Options,
  type Step,
} from './macro-words.ts';

type Draft = Pick<Macro, 'name' | 'visibility'> & { steps: Step[] };

const visibilities = [
  ['personal', 'Only me'],
  ['global', 'All agents'],
] as const;
const mostSteps = 20;

/** The macros that the person may run: everybody has their own, and administrators share theirs. */
export function MacrosPage() {
  const options = useLoad(readOptions);
  const me = currentAccount()?.agent_id;
  const mayChange = ({ visibility, created_by_id: creator }: Macro): boolean =>
    visibility === 'global' ? isAdministrator() : creator === me;
  return (
    <>
      <CrudPage
        title="Macros"
        caption="Macros by name"
        load={(signal) => call('GET macros', { signal })}
        form={formOf(options.value)}
        mayChange={options.value !== null}
        mayEdit={mayChange}
        mayRemove={mayChange}
        empty={<p>No macros yet. Create one to run several actions by one button.</p>}
        columns={[
          { title: 'Name', kind: 'text', cell: ({ name }) => name },
          {
            title: 'Actions',
            kind: 'text',
            isExtra: true,
            cell: (macro) =>
              stepsOf(macro)
                .map(({ name }) => kindOf(name).text)
                .join(', '),
          },
          {
            title: 'Visible to',
            kind: 'fit',
            cell: ({ visibility }) => (visibility === 'global' ? 'All agents' : 'Only me'),
          },
          { title: 'Updated', kind: 'fit', cell: ({ updated_at: at }) => <Time at={at} /> },
        ]}
        remove={{
          question: (name) => `The macro “${name}” is deleted.`,
          done: (name) => `Macro “${name}” deleted.`,
          act: ({ id }) => call('DELETE macros/:id', { id }),
        }}
      >
        {options.error !== null && <Show of={options}>{() => null}</Show>}
      </CrudPage>
    </>
  );
}

function formOf(options: Options | null): RecordForm<Macro, Draft> {
  return {
    noun: 'macro',
    nameOf: ({ name }) => name,
    fresh: { name: '', visibility: 'personal', steps: [] },
    draftOf: (macro) => ({ name: macro.name, visibility: macro.visibility, steps: stepsOf(macro) }),
    fields: () => [
      { name: 'name', label: 'Name', required: true },
      ...(isAdministrator() ? [{ name: 'visibility', label: 'Visible to', options: visibilities } as const] : []),
      {
        name: 'steps',
        label: 'Actions',
        control: ({ draft, set }) =>
          options && <Steps steps={draft.steps} change={(steps) => set({ steps })} options={options} />,
      },
    ],
    save: ({ name, visibility, steps }, macro) => {
      const body = { name, visibility, actions: actionsOf(steps) };
      return macro ? call('PATCH macros/:id', { id: macro.id, body }) : call('POST macros', { body });
    },
  };
}

interface StepsProps {
  steps: readonly Step[];
  change: (steps: Step[]) => void;
  options: Options;
}

function Steps({ steps, change, options }: StepsProps) {
  const replace = (at: number, step: Step): void => change(steps.map((one, index) => (index === at ? step : one)));
  return (
    <fieldset>
      <legend>Actions</legend>
      {steps.map((step, index) => (
        <div key={index} class="step">
          <ChoiceField
            label={`Action ${index + 1}`}
            value={step.name}
            options={stepKinds.map(({ name, text }) => [name, text] as const)}
            onChange={(name) => replace(index, newStep(name, options))}
          />
          <Parameter
            label={`Value ${index + 1}`}
            step={step}
            options={options}
            change={(value) => replace(index, { ...step, value })}
          />
          <button
            type="button"
            aria-label={`Remove action ${index + 1}`}
            onClick={() => change(steps.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </div>
      ))}
      {steps.length < mostSteps && (
        <button type="button" onClick={() => change([...steps, newStep('assign_agent', options)])}>
          Add action
        </button>
      )}
    </fieldset>
  );
}

interface ParameterProps {
  label: string;
  step: Step;
  options: Options;
  change: (value: string) => void;
}

function Parameter({ label, step: { name, value }, options, change }: ParameterProps) {
  const { parameter } = kindOf(name);
  if (parameter === undefined) return null;
  if (parameter === 'message') return <TextField label={label} rows={3} value={value} onChange={change} />;
  const choices = options[parameter];
  // Other clients may have stored a value that is none of the choices.
  const isKnown = choices.some(([one]) => one === value);
  return (
    <ChoiceField
      label={label}
      value={value}
      options={isKnown ? choices : [[value, value], ...choices]}
      onChange={change}
    />
  );
}
