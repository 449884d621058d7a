import { Combobox, Comboboxes } from '../../kit/combobox.tsx';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { actionKinds, freshAction, mostActions, type ActionDraft } from './rule-draft.ts';
import { priorities, times, type RuleOptions } from './rule-options.ts';

interface Props {
  actions: readonly ActionDraft[];
  onChange: (actions: ActionDraft[]) => void;
  options: RuleOptions;
}

/** The actions of a rule, in their order. */
export function ActionFields({ actions, onChange, options }: Props) {
  const replace = (at: number, action: ActionDraft): void =>
    onChange(actions.map((one, index) => (index === at ? action : one)));
  return (
    <>
      {actions.map((action, at) => (
        // Actions have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div class="rule-line" key={at}>
          <ChoiceField
            label={`Action ${at + 1}`}
            value={action.kind}
            onChange={(kind) => replace(at, { kind, values: [] })}
            options={actionKinds}
          />
          <Parameter
            number={at + 1}
            action={action}
            change={(values) => replace(at, { ...action, values })}
            options={options}
          />
          <button type="button" onClick={() => onChange(actions.filter((_, index) => index !== at))}>
            Remove action {at + 1}
          </button>
        </div>
      ))}
      {actions.length < mostActions && (
        <button type="button" onClick={() => onChange([...actions, freshAction])}>
          Add action
        </button>
      )}
    </>
  );
}

interface ParameterProps {
  number: number;
  action: ActionDraft;
  change: (values: string[]) => void;
  options: RuleOptions;
}

function Parameter({ number, action: { kind, values }, change, options }: ParameterProps) {
  const [first = '', second = ''] = values;
  const { agents, teams, labels, bots } = options;
  const choices = { assign_agent: agents, assign_team: teams, priority: priorities, snooze: times, set_bot: bots };
  const label = `Value ${number}`;
  if (kind === 'resolve' || kind === 'open') return null;
  if (kind === 'add_labels') return <Comboboxes label={label} values={values} onChange={change} options={labels} />;
  if (kind === 'note') return <TextField label={label} rows={3} value={first} onChange={(text) => change([text])} />;
  if (kind === 'attributes')
    return (
      <>
        <TextField label={`Attribute of action ${number}`} value={first} onChange={(name) => change([name, second])} />
        <TextField label={label} value={second} onChange={(value) => change([first, value])} />
      </>
    );
  return <Combobox label={label} value={first} onChange={(value) => change([value])} options={choices[kind]} />;
}
