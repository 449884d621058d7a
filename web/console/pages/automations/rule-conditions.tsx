import { Combobox, Comboboxes } from '../../kit/combobox.tsx';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { freshCondition, hasValues, mostConditions, operators, type ConditionDraft } from './rule-draft.ts';
import { valuesFor, type RuleOptions } from './rule-options.ts';

interface Props {
  conditions: readonly ConditionDraft[];
  onChange: (conditions: ConditionDraft[]) => void;
  options: RuleOptions;
}

/** The conditions of a rule. */
export function ConditionFields({ conditions, onChange, options }: Props) {
  const put = (at: number, change: Partial<ConditionDraft>): void =>
    onChange(conditions.map((one, index) => (index === at ? { ...one, ...change } : one)));
  return (
    <>
      {conditions.length === 0 && <p>Always.</p>}
      {conditions.map((condition, at) => (
        // Conditions have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div class="rule-line" key={at}>
          <Combobox
            label={`Attribute ${at + 1}`}
            value={condition.attribute}
            onChange={(attribute) => put(at, { attribute, values: [] })}
            options={options.attributes}
          />
          <ChoiceField
            label={`Operator ${at + 1}`}
            value={condition.operator}
            onChange={(operator) => put(at, { operator })}
            options={operators}
          />
          {hasValues(condition.operator) && (
            <Values number={at + 1} condition={condition} change={(values) => put(at, { values })} options={options} />
          )}
          <button type="button" onClick={() => onChange(conditions.filter((_, index) => index !== at))}>
            Remove condition {at + 1}
          </button>
        </div>
      ))}
      {conditions.length < mostConditions && (
        <button type="button" onClick={() => onChange([...conditions, freshCondition])}>
          Add condition
        </button>
      )}
    </>
  );
}

interface ValuesProps {
  number: number;
  condition: ConditionDraft;
  change: (values: string[]) => void;
  options: RuleOptions;
}

function Values({ number, condition: { attribute, values }, change, options }: ValuesProps) {
  const choices = valuesFor(attribute, options);
  const label = `Values ${number}`;
  if (choices) return <Comboboxes label={label} values={values} onChange={change} options={choices} />;
  return (
    <TextField
      label={label}
      hint="One per line."
      rows={2}
      value={values.join('\n')}
      onChange={(text) => change(text === '' ? [] : text.split('\n'))}
    />
  );
}
