import { defineAutomation, type AutomationContext } from 'switchboard/bot';
import { meets, type Conditions } from './conditions.ts';
import { factsOf } from './facts.ts';

/** An action of a rule, with the fields that it needs. */
interface RuleAction {
  action: 'add_labels' | 'assign' | 'priority' | 'note' | 'snooze' | 'resolve' | 'open' | 'attributes' | 'set_bot';
  labels?: string[];
  agent_id?: number;
  team_id?: number;
  priority?: 'urgent' | 'high' | 'medium' | 'low';
  content?: string;
  seconds?: number;
  attributes?: Record<string, unknown>;
  agent_bot_id?: number;
}

interface Rule {
  name: string;
  active: boolean;
  on: readonly string[];
  if?: Conditions;
  then: readonly RuleAction[];
}

type Context = AutomationContext<{ rules: readonly Rule[] }>;

const acts: { [Name in RuleAction['action']]: (ctx: Context, action: RuleAction) => void } = {
  add_labels: (ctx, { labels = [] }) => ctx.label.add(...labels),
  assign: (ctx, { agent_id: assignee, team_id: team }) =>
    ctx.assign({ ...(assignee === undefined ? {} : { assignee }), ...(team === undefined ? {} : { team }) }),
  priority: (ctx, { priority = 'medium' }) => ctx.priority(priority),
  note: (ctx, { content = '' }) => ctx.note(content),
  snooze: (ctx, { seconds = 3600 }) => ctx.snooze({ inSeconds: seconds }),
  resolve: (ctx) => ctx.resolve(),
  open: (ctx) => ctx.open(),
  attributes: (ctx, { attributes = {} }) => ctx.attributes(attributes),
  set_bot: (ctx, { agent_bot_id: id = null }) => ctx.bot(id),
};

// A rule may end the conversation's part once: the first of these wins.
const endings = new Set(['resolve', 'open', 'snooze']);

async function apply(ctx: Context): Promise<void> {
  const name = ctx.event['event'];
  const rules = ctx.config.rules.filter(({ active, on }) => active && on.some((event) => event === name));
  if (rules.length === 0) return;
  const facts = await factsOf(ctx);
  let hasEnded = false;
  for (const { name: rule, if: conditions = {}, then } of rules) {
    if (!meets(conditions, facts)) continue;
    let count = 0;
    for (const action of then) {
      if (endings.has(action.action) && hasEnded) continue;
      hasEnded ||= endings.has(action.action);
      acts[action.action](ctx, action);
      count += 1;
    }
    // Dry runs and counts per rule read these fields.
    ctx.log.info(rule, { rule, actions: count });
  }
}

export default defineAutomation<{ rules: readonly Rule[] }>({
  on: {
    message_created: apply,
    message_updated: apply,
    conversation_created: apply,
    conversation_updated: apply,
    conversation_status_changed: apply,
    contact_created: apply,
    contact_updated: apply,
    sla_breached: apply,
    webwidget_triggered: apply,
  },
});
