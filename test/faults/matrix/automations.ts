import { writePackage } from '../../support/packages.ts';
import type { Fault } from './fault.ts';
import { ok } from './manners.ts';
import type { Producer } from './producer.ts';
import { withKillsAtSteps } from './steps.ts';
import type { Trial } from './trial.ts';

const conversations = 3;
const pauseMs = 350;
const prefix = 'noted: ';

const manifest = {
  id: 'notes',
  kind: 'automation',
  events: ['message_created'],
  permissions: { conversation: ['note'] },
};
const code = `export default { on: { message_created(ctx) {
  if (ctx.event.message_type === 'incoming') ctx.note('${prefix}' + ctx.event.content);
} } };`;

/** An automation that notes each message of a customer, once and in their order. */
export const automations: Fault = {
  id: 'F24',
  what: 'an automation: kill -9 at each step (message stored, run begun, acted, finished)',
  run: (trial) => {
    const { services, client, scale } = trial;
    writePackage(services.file('notes'), manifest, code);
    return withKillsAtSteps(trial, async (killAtSteps) => {
      await trial.receiver('receiver', () => ok);
      await client.need('POST', 'automations', { name: 'Notes', plugin_id: 'notes' });
      const producer = await trial.producer(conversations);
      const end = producer.keepWriting(pauseMs);
      await killAtSteps(scale.kills(4));
      await end();
      await trial.settle();
      await judge(trial, producer);
    });
  },
};

async function judge(trial: Trial, { writes }: Producer): Promise<void> {
  // A message of unknown end has a note if it was committed. The order of the notes is judged here.
  trial.follow({ writes: writes.map(({ key, outcome }) => ({ key: prefix + key, conversation: 0, outcome })) });
  const rows = await trial.rows<{ conversation: number; kind: string; content: string }>(
    `SELECT conversation_id::int AS conversation, sender_kind AS kind, content FROM messages ORDER BY id`,
  );
  for (const [conversation, own] of Map.groupBy(rows, (row) => row.conversation)) {
    const [notes, messages] = [own.filter(isNote), own.filter((row) => !isNote(row))];
    const noted = notes.map(({ content }) => content.slice(prefix.length)).join(', ');
    const wanted = messages.map(({ content }) => content).join(', ');
    trial.check(noted === wanted, `of the messages ${wanted} of conversation ${conversation} were noted ${noted}`);
  }
}

function isNote({ kind }: { kind: string }): boolean {
  return kind === 'automation';
}
