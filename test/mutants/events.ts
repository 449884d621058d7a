import type { Mutant } from './mutant.ts';

export const events: readonly Mutant[] = [
  {
    file: 'src/events/transaction.ts',
    text: 'messages: [], events: [] };',
    replacement: "messages: [], events: ((unit.database as { lost?: Part['events'] }).lost ??= []) };",
    test: 'test/events/transaction.test.ts',
    harm: 'After a deadlock a change answers 500, or its events are said twice.',
  },
  {
    file: 'src/events/payloads.ts',
    text: "const contact = sender.kind === 'contact' ? conversation.contact : null;",
    replacement: 'const { contact } = conversation;',
    test: 'test/api/accounts/bot-senders.test.ts',
    harm: "A bot is told the customer's phone number and identifier as those of an agent.",
  },
  {
    file: 'src/events/payloads.ts',
    text: 'updated_at: unixSeconds(contact.updatedAt)',
    replacement: 'updated_at: unixSeconds(contact.createdAt)',
    test: 'test/api/accounts/contact-times.test.ts',
    harm: 'Integrations that synchronise contacts by updated_at miss every edit.',
  },
  {
    file: 'src/deliveries/queue/enqueue.ts',
    text: `
      AND (w.inbox_id IS NULL OR w.inbox_id = e.inbox_id)`,
    replacement: '',
    test: 'test/events.test.ts',
    only: 'POST conversations: conversation_created',
    harm: 'A webhook of one inbox hears of all inboxes.',
  },
  {
    file: 'src/deliveries/queue/enqueue.ts',
    text: 'SET due_at = CASE WHEN lane.lease_token IS NULL THEN least(lane.due_at, now()) ELSE lane.due_at END',
    replacement: 'SET due_at = least(lane.due_at, now())',
    test: 'test/faults/leases.test.ts',
    only: 'comes during an attempt',
    harm: 'A new event during an attempt makes the same delivery begin twice.',
  },
  {
    file: 'src/events/unit-of-work.ts',
    text: '() => Object.assign(part, { messages, events }));',
    replacement: '() => Object.assign(part, { messages }));',
    test: 'test/events/unit-of-work.test.ts',
    only: 'when a savepoint is undone',
    harm: 'Events of what was undone are told all the same.',
  },
  {
    file: 'src/events/transaction.ts',
    text: 'this.unit.afterCommit(work);',
    replacement: 'work();',
    test: 'test/events/transaction.test.ts',
    harm: 'After a deadlock an invitation is mailed twice.',
  },
  {
    file: 'src/events/stored-payloads.ts',
    text: "name IN ('message_created', 'message_updated')",
    replacement: "name = 'message_created'",
    test: 'test/api/accounts/erasure.test.ts',
    only: 'a message that is deleted',
    harm: 'The content of a deleted message is still delivered with the event of its last edit.',
  },
  {
    file: 'src/events/feed.ts',
    text: 'await place(database, id).catch(failed);',
    replacement: 'await place(database, id);',
    test: 'test/events/feed.test.ts',
    only: 'held up by the events of another',
    harm: 'An account that is being deleted keeps the events of other accounts out of their feeds.',
  },
];
