import type { ComponentChildren } from 'preact';
import { CheckField, ChoiceField, TextField, type ProblemOf } from '../../kit/form.tsx';
import { ActionFields } from './rule-actions.tsx';
import { ConditionFields } from './rule-conditions.tsx';
import { edited, freshRule, hasPlainConditions, mostRules, ruleEvents, type RuleDraft } from './rule-draft.ts';
import type { RuleOptions } from './rule-options.ts';

interface Props {
  rules: readonly RuleDraft[];
  onChange: (rules: RuleDraft[]) => void;
  options: RuleOptions;
  problemOf: ProblemOf;
}

/** The builder of rules: when, if, then, in the order in which they act. */
export function RuleEditor({ rules, onChange, options, problemOf }: Props) {
  const replace = (at: number, rule: RuleDraft): void =>
    onChange(rules.map((one, index) => (index === at ? rule : one)));
  const swap = (at: number, other: number): void => {
    const [one, two] = [rules[at], rules[other]];
    if (one && two) onChange(rules.with(at, two).with(other, one));
  };
  return (
    <>
      {rules.length === 0 && <p>No rules yet. Add one, then try it on past events.</p>}
      {rules.map((rule, at) => (
        <RuleFields
          // Rules have no identity but their place.
          // oxlint-disable-next-line react/no-array-index-key
          key={at}
          rule={rule}
          number={at + 1}
          change={(changes) => replace(at, edited(rule, changes))}
          options={options}
          problem={problemOf(`config/rules/${at}/name`)}
        >
          <div class="actions">
            <button type="button" disabled={at === 0} onClick={() => swap(at, at - 1)}>
              Move rule {at + 1} up
            </button>
            <button type="button" disabled={at === rules.length - 1} onClick={() => swap(at, at + 1)}>
              Move rule {at + 1} down
            </button>
            <button type="button" class="danger" onClick={() => onChange(rules.filter((_, index) => index !== at))}>
              Remove rule {at + 1}
            </button>
          </div>
        </RuleFields>
      ))}
      {rules.length < mostRules && (
        <p>
          <button type="button" onClick={() => onChange([...rules, freshRule(`Rule ${rules.length + 1}`)])}>
            Add rule
          </button>
        </p>
      )}
    </>
  );
}

interface RuleProps {
  rule: RuleDraft;
  number: number;
  change: (changes: Partial<RuleDraft>) => void;
  options: RuleOptions;
  problem: string | undefined;
  children: ComponentChildren;
}

function RuleFields({ rule, number, change, options, problem, children }: RuleProps) {
  const { name, active, events, match, conditions, actions } = rule;
  const isPlain = hasPlainConditions(rule);
  return (
    <fieldset class="rule">
      <legend>
        Rule {number}: {name}
      </legend>
      <div class="rule-head">
        <TextField
          label={`Name ${number}`}
          value={name}
          onChange={(next) => change({ name: next })}
          problem={problem}
        />
        <CheckField label="On" checked={active} onChange={(next) => change({ active: next })} />
      </div>
      <div role="group" aria-label={`When ${number}`}>
        <h3>When</h3>
        <div class="rule-events">
          {ruleEvents.map(([event, text]) => (
            <CheckField
              key={event}
              label={text}
              checked={events.includes(event)}
              onChange={(isWanted) =>
                change({ events: isWanted ? [...events, event] : events.filter((one) => one !== event) })
              }
            />
          ))}
        </div>
      </div>
      <div role="group" aria-label={`If ${number}`}>
        <h3>If</h3>
        {conditions.length > 1 && isPlain && (
          <ChoiceField
            label="Match"
            value={match}
            onChange={(next) => change({ match: next })}
            options={[
              ['all', 'All conditions'],
              ['any', 'Any condition'],
            ]}
          />
        )}
        {isPlain ? (
          <ConditionFields
            conditions={conditions}
            onChange={(next) => change({ conditions: next })}
            options={options}
          />
        ) : (
          <p>This rule has both “all” and “any” conditions. Edit them as JSON.</p>
        )}
      </div>
      <div role="group" aria-label={`Then ${number}`}>
        <h3>Then</h3>
        <ActionFields actions={actions} onChange={(next) => change({ actions: next })} options={options} />
      </div>
      {children}
    </fieldset>
  );
}
