import type { Body } from '../../../shared/call.ts';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import type { Webhook } from './states.tsx';

type Filter = Webhook['filter'];
type Condition = NonNullable<NonNullable<Filter>['all']>[number];

/** A filter while it is edited; the values of a condition are a text with commas. */
export interface FilterDraft {
  match: 'none' | 'all' | 'any';
  conditions: readonly (Pick<Condition, 'attribute' | 'operator'> & { values: string })[];
}

const attributes: readonly (readonly [Condition['attribute'], string])[] = [
  ['inbox_id', 'Inbox ID'],
  ['team_id', 'Team ID'],
  ['assignee_id', 'Assignee ID'],
  ['labels', 'Labels'],
  ['status', 'Status'],
  ['priority', 'Priority'],
  ['message_type', 'Message type'],
  ['private', 'Private note'],
  ['sender_type', 'Sender type'],
];
const operators: readonly (readonly [Condition['operator'], string])[] = [
  ['equal_to', 'is one of'],
  ['not_equal_to', 'is none of'],
  ['is_present', 'is present'],
  ['is_not_present', 'is not present'],
  ['contains', 'contains'],
];
const hints: Partial<Record<Condition['attribute'], string>> = {
  status: 'open, resolved, pending, snoozed',
  priority: 'urgent, high, medium, low',
  message_type: 'incoming, outgoing',
  private: 'true, false',
  sender_type: 'Contact, User, AgentBot, Automation',
};
const maxConditions = 15;
const fresh = { attribute: 'labels', operator: 'equal_to', values: '' } as const;

/** The draft of a stored filter. */
export function filterDraftOf(filter: Filter): FilterDraft {
  const conditions = filter?.all ?? filter?.any ?? [];
  return {
    match: filter === null ? 'none' : filter.all ? 'all' : 'any',
    conditions: conditions.map(({ attribute, operator, values = [] }) => ({
      attribute,
      operator,
      values: values.join(', '),
    })),
  };
}

/** The filter of a draft, as the service takes it. */
export function filterOf({ match, conditions }: FilterDraft): Body<'PATCH webhooks/:id'>['filter'] {
  if (match === 'none') return null;
  const given = conditions.map(({ attribute, operator, values }) => ({
    attribute,
    operator,
    ...(hasValues(operator) ? { values: partsOf(values) } : {}),
  }));
  return match === 'all' ? { all: given } : { any: given };
}

/** A filter in words. */
export function filterInWords(filter: Filter): string {
  if (filter === null) return 'All subscribed events';
  const { match, conditions } = filterDraftOf(filter);
  const texts = conditions.map(({ attribute, operator, values }) =>
    [textOf(attributes, attribute), textOf(operators, operator), hasValues(operator) ? values : ''].join(' ').trim(),
  );
  return texts.join(match === 'all' ? ' and ' : ' or ');
}

interface Props {
  value: FilterDraft;
  onChange: (value: FilterDraft) => void;
  problem: string | undefined;
}

/** The builder of a filter. */
export function FilterField({ value, onChange, problem }: Props) {
  const { match, conditions } = value;
  const put = (index: number, change: Partial<FilterDraft['conditions'][number]>): void =>
    onChange({ match, conditions: conditions.map((one, at) => (at === index ? { ...one, ...change } : one)) });
  return (
    <fieldset>
      <legend>Filter</legend>
      <ChoiceField
        label="Send"
        value={match}
        onChange={(next) => onChange({ match: next, conditions: conditions.length === 0 ? [fresh] : conditions })}
        problem={problem}
        options={[
          ['none', 'All subscribed events'],
          ['all', 'Events that meet all conditions'],
          ['any', 'Events that meet any condition'],
        ]}
      />
      {match !== 'none' &&
        conditions.map(({ attribute, operator, values }, index) => (
          // Conditions have no identity but their place.
          // oxlint-disable-next-line react/no-array-index-key
          <div class="condition" key={index}>
            <ChoiceField
              label={`Attribute ${index + 1}`}
              value={attribute}
              onChange={(next) => put(index, { attribute: next })}
              options={attributes}
            />
            <ChoiceField
              label={`Operator ${index + 1}`}
              value={operator}
              onChange={(next) => put(index, { operator: next })}
              options={operators}
            />
            {hasValues(operator) && (
              <TextField
                label={`Values ${index + 1}`}
                hint={hints[attribute] ?? 'Separate values with commas.'}
                value={values}
                onChange={(next) => put(index, { values: next })}
              />
            )}
            <button
              type="button"
              onClick={() => onChange({ match, conditions: conditions.filter((_, at) => at !== index) })}
            >
              Remove condition {index + 1}
            </button>
          </div>
        ))}
      {match !== 'none' && conditions.length < maxConditions && (
        <button type="button" onClick={() => onChange({ match, conditions: [...conditions, fresh] })}>
          Add condition
        </button>
      )}
    </fieldset>
  );
}

function hasValues(operator: Condition['operator']): boolean {
  return operator !== 'is_present' && operator !== 'is_not_present';
}

function partsOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function textOf(options: readonly (readonly [string, string])[], value: string): string {
  return options.find(([one]) => one === value)?.[1] ?? value;
}
