import { expect } from 'chai';
import { Client } from 'pg';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { BotRunner, type RunVerdict } from '../../src/runs/bot-runner.ts';
import type { Action, RunResult } from '../../src/sandbox/run.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { findOfEvent } from '../support/found.ts';

type Doing = (app: TestApp, conversationId: number) => Promise<unknown>;

const note: Action = { type: 'note', content: 'A note of the bot' };
const handoff: Action = { type: 'handoff', reason: 'too hard', note: 'Somebody please' };
const ended: RunResult = { outcome: 'ok', actions: [], logs: [], calls: [], wallMs: 1, cpuMs: 0 };
const nothing: Doing = async () => undefined;
const threw: RunResult = { ...ended, outcome: 'threw', error: 'Error: no' };

/** What a person may do while a bot computes, and the reason for the bot's silence then, null when it does not serve. */
const ways: Readonly<Record<string, { act: Doing; reason: string | null }>> = {
  assigned: {
    act: (app, id) => app.post(`conversations/${id}/assignments`, { assignee_id: 1 }),
    reason: 'human_assigned',
  },
  replied: {
    act: (app, id) => app.post(`conversations/${id}/messages`, { content: 'Mine', message_type: 'outgoing' }),
    reason: 'human_replied',
  },
  opened: {
    act: (app, id) => app.post(`conversations/${id}/toggle_status`, { status: 'open' }),
    reason: 'human_opened',
  },
  'replaced it in the conversation': {
    act: async (app, id) => app.post(`conversations/${id}/agent_bot`, { agent_bot_id: await successor(app) }),
    reason: null,
  },
  'replaced it in the inbox': {
    act: async (app, id) => {
      const { inbox_id: inboxId } = (await app.get(`conversations/${id}`)).body;
      return app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: await successor(app) });
    },
    reason: null,
  },
};

async function successor(app: TestApp): Promise<number> {
  return (await app.post('agent_bots', { name: 'Successor', kind: 'plugin', plugin_id: 'thinker' })).body.id;
}

describe('a run that was overtaken', () => {
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxId: number | undefined;
  let made = 0;

  before(async () => {
    root = pluginRootOf({ thinker: '' });
    app = await TestApp.start({ engine: false, pluginRoot: root.path });
  });

  beforeEach(async () => {
    made += 1;
    await app.query(`UPDATE inboxes SET identifier = 'done-' || id, name = 'done' WHERE name = 'thinker'`);
    inboxId = (await serveInboxes(app, ['thinker'])).get('thinker');
  });

  after(async () => {
    await app.stop();
    root.remove();
  });

  interface Played {
    verdict: RunVerdict;
    outcome: string;
    /** The conversation's messages that were not there before the run was over, without the person's own. */
    written: unknown[];
    status: [before: string, after: string];
    events: string[];
    explained: Record<string, unknown>;
    id: number;
  }

  /** Lets a bot compute on the customer's word, does something meanwhile, and then lets the run end with `result`. */
  async function play(
    result: RunResult,
    meanwhile: Doing,
    { settling = nothing, failures = 0 }: { settling?: Doing; failures?: number } = {},
  ): Promise<Played> {
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/messages`, { content: `Hello ${made}`, message_type: 'incoming' });
    const [event] = await app.query<{ id: number; bot_id: number; bot_payload: unknown }>(
      `SELECT id, bot_id, bot_payload FROM events WHERE conversation_id = $1 AND name = 'message_created'`,
      [id],
    );
    const status = async () => (await app.get(`conversations/${id}`)).body.status as string;
    let before = '';
    const bots = new BotRunner({
      storageBytes: 1e6,
      database: app.app.database,
      plugins: app.app.plugins,
      clock: systemClock,
      random: systemRandom,
      log: { warn: () => undefined },
      sandbox: {
        queued: 0,
        warm: () => undefined,
        close: async () => undefined,
        run: async () => {
          await meanwhile(app, id);
          before = await status();
          await app.events();
          return result;
        },
      },
    });
    const verdicts: RunVerdict[] = [];
    const handled = bots.handle(
      {
        account: { id: 1, name: 'Demo account' },
        botId: event!.bot_id,
        event: { id: event!.id, name: 'message_created', conversationId: id, depth: 0 },
        found: await findOfEvent(app, event!.id),
        body: JSON.stringify(event!.bot_payload),
        attempt: failures + 1,
        failures,
      },
      (_, verdict) => void verdicts.push(verdict),
    );
    await settling(app, id);
    await handled;
    const [run] = await app.query<{ outcome: string }>('SELECT outcome FROM bot_runs WHERE conversation_id = $1', [id]);
    const messages = await messagesOf(app, id);
    return {
      id,
      // What was presumed to be as at the claim is settled twice.
      verdict: verdicts.at(-1)!,
      outcome: run!.outcome,
      written: messages.filter(({ sender_kind: kind }) => kind === 'agent_bot' || kind === 'system'),
      status: [before, await status()],
      events: await app.eventNames(),
      explained: (await app.get(`conversations/${id}/agent_bot`)).body,
    };
  }

  it('is heeded as long as nobody overtakes it', async () => {
    const failed = await play(threw, nothing);
    expect(failed.written).to.have.lengthOf(1);
    expect(failed.explained).to.include({ answers: false, reason: 'bot_failed' });
    expect(failed.status).to.deep.equal(['pending', 'open']);
    const gave = await play({ ...ended, actions: [handoff] }, nothing);
    expect(gave.explained).to.include({ answers: false, reason: 'handed_off' });
    expect([gave.outcome, gave.status]).to.deep.equal(['ok', ['pending', 'open']]);
  });

  for (const [way, { act, reason }] of Object.entries(ways)) {
    describe(`by a person who ${way}`, () => {
      const expectUntouched = ({ written, status, events, explained }: Played) => {
        expect(written).to.deep.equal([]);
        expect(status[1]).to.equal(status[0]);
        expect(events).to.deep.equal([]);
        expect(explained).to.include({ answers: reason === null, reason });
      };

      it('and throws, calls nobody and silences nobody', async () => {
        const played = await play(threw, act);
        expectUntouched(played);
        expect([played.verdict.state, played.outcome]).to.deep.equal(['exhausted', 'threw']);
      });

      it('and only hands off, does nothing', async () => {
        const played = await play({ ...ended, actions: [handoff] }, act);
        expectUntouched(played);
        expect([played.verdict.errorCode, played.outcome]).to.deep.equal(['superseded', 'superseded']);
      });

      it('and only writes a note, may do so unless it serves no more', async () => {
        const played = await play({ ...ended, actions: [note] }, act);
        expect(played.outcome).to.equal(reason === null ? 'superseded' : 'ok');
        expect(played.written).to.have.lengthOf(reason === null ? 0 : 1);
        expect(played.explained).to.include({ answers: reason === null, reason });
      });
    });
  }

  const close = (status: string): Doing => {
    const until = status === 'snoozed' ? { snoozed_until: Math.floor(Date.now() / 1000) + 3600 } : {};
    return (_, id) => app.post(`conversations/${id}/toggle_status`, { status, ...until });
  };
  const reply: Action = { type: 'reply', content: 'An answer of the bot' };

  for (const status of ['resolved', 'snoozed']) {
    it(`by a person who ${status} the conversation says nothing there, and may still write a note`, async () => {
      const spoke = await play({ ...ended, actions: [note, reply] }, close(status));
      expect([spoke.outcome, spoke.verdict.errorCode, spoke.written]).to.deep.equal(['superseded', 'superseded', []]);
      expect([spoke.status[1], spoke.events]).to.deep.equal([status, []]);
      const gave = await play({ ...ended, actions: [handoff] }, close(status));
      expect([gave.outcome, gave.status[1], gave.events]).to.deep.equal(['superseded', status, []]);
      const noted = await play({ ...ended, actions: [note] }, close(status));
      expect([noted.outcome, noted.written.length]).to.deep.equal(['ok', 1]);
    });

    it(`by a person who ${status} the conversation and threw, calls nobody`, async () => {
      const { status: both, written, events } = await play(threw, close(status));
      expect([both[1], written, events]).to.deep.equal([status, [], []]);
    });
  }

  it('by whoever disables its plugin does nothing of what it was about to do, and people get the conversation', async () => {
    const plugin = (verb: string) => app.post(`/platform/api/v1/plugins/thinker/${verb}`);
    const failed = await play(threw, nothing);
    for (const actions of [[reply, handoff], [note], []] satisfies Action[][]) {
      try {
        const played = await play({ ...ended, actions }, () => plugin('disable'));
        expect([played.verdict.state, played.verdict.errorCode]).to.deep.equal(['delivered', 'plugin_disabled']);
        expect([played.outcome, played.status]).to.deep.equal(['plugin_disabled', ['pending', 'open']]);
        expect(played.events).to.deep.equal(failed.events);
        const [told, ...more] = played.written as { content: string; sender_kind: string }[];
        expect(more).to.deep.equal([]);
        expect(told).to.include({ sender_kind: 'system' });
        expect(told?.content).to.match(/its plugin is disabled/);
      } finally {
        expect((await plugin('enable')).status).to.equal(200);
      }
    }
    const spoke = await play({ ...ended, actions: [reply] }, nothing);
    expect([spoke.outcome, spoke.written.length]).to.deep.equal(['ok', 1]);
  });

  it('by the bot itself, which resolved the conversation on an earlier word, answers the later one', async () => {
    const { body: bot } = await app.get(`inboxes/${inboxId}/agent_bot`);
    const { body: token } = await app.post(`agent_bots/${bot.agent_bot.id}/reset_access_token`);
    const played = await play({ ...ended, actions: [reply] }, (_, id) =>
      app.post(`conversations/${id}/toggle_status`, { status: 'resolved' }, { api_access_token: token.access_token }),
    );
    expect([played.outcome, played.written.length]).to.deep.equal(['ok', 1]);
  });

  it('by a person who resolved and reopened the conversation speaks: it is open to the bot again', async () => {
    const played = await play({ ...ended, actions: [reply] }, async (_, id) => {
      await close('resolved')(app, id);
      await close('pending')(app, id);
    });
    expect([played.outcome, played.written.length]).to.deep.equal(['ok', 1]);
  });

  it('by a person who resolved the conversation and throws, leaves nobody waiting there', async () => {
    const played = await play(threw, (_, id) => app.post(`conversations/${id}/toggle_status`, { status: 'resolved' }));
    expect([played.verdict.state, played.outcome]).to.deep.equal(['exhausted', 'threw']);
    expect(played.written).to.deep.equal([]);
    expect([played.status, played.events]).to.deep.equal([['resolved', 'resolved'], []]);
    expect((await app.get(`conversations/${played.id}`)).body.waiting_since).to.equal(null);
  });

  it('that would say an eleventh thing within a minute is stopped as a loop', async () => {
    const sayTen: Doing = (_, id) =>
      app.query(
        `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind)
         SELECT 1, $1, 'outgoing', 'Again', 'agent_bot' FROM generate_series(1, 9)`,
        [id],
      );
    const tenth = await play({ ...ended, actions: [reply] }, sayTen);
    expect(tenth.outcome).to.equal('ok');
    const eleventh = await play({ ...ended, actions: [reply, reply] }, sayTen);
    expect([eleventh.outcome, eleventh.explained.reason]).to.deep.equal(['loop_suspected', 'loop_suspected']);
  });

  it('that adds a label for which there was no room for one more label fails, and adds it not', async () => {
    const fill: Doing = () =>
      app.query(`INSERT INTO labels (account_id, title) SELECT 1, 'filler_' || n FROM generate_series(1, 1000) AS n`);
    const played = await play({ ...ended, actions: [reply, { type: 'label', add: ['one-too-many'] }] }, fill);
    await app.query(`DELETE FROM labels WHERE title LIKE 'filler%'`);
    expect(played.verdict.state).to.equal('exhausted');
    expect(played.written).to.have.lengthOf(1);
    expect(played.events).not.to.include('conversation_updated');
    expect((await app.get(`conversations/${played.id}`)).body.labels).to.deep.equal([]);
  });

  it('by a crash of its process is tried again, three times in all, before people are called', async () => {
    const crashed: RunResult = { ...ended, outcome: 'crashed', error: 'The sandbox process died' };
    for (const failures of [0, 1]) {
      const { verdict, written, status } = await play(crashed, nothing, { failures });
      expect([verdict.state, verdict.errorCode, written.length]).to.deep.equal(['pending', 'crashed', 0]);
      expect(status).to.deep.equal(['pending', 'pending']);
    }
    const last = await play(crashed, nothing, { failures: 2 });
    expect([last.verdict.state, last.written.length]).to.deep.equal(['exhausted', 1]);
    expect(last.status).to.deep.equal(['pending', 'open']);
  });

  for (const [title, outcome, state, status] of [
    ['by a full queue', 'queue_full', 'pending', 'pending'],
    ['by a busy machine', 'unavailable', 'pending', 'pending'],
    ['by waiting runs that hold too much', 'waiting_full', 'exhausted', 'open'],
  ] as const)
    it(`${title} is no failure of its bot, however often`, async () => {
      const refused: RunResult = { ...ended, outcome, error: '200 runs are waiting already' };
      const first = await play(refused, nothing);
      expect([first.verdict.state, first.status[1]]).to.deep.equal([state, status]);
      for (let run = 0; run < 6; run += 1) {
        const last = await play(refused, nothing, { failures: 2 });
        expect([last.verdict.state, last.status[1]]).to.deep.equal(['exhausted', 'open']);
      }
      const { inbox_id: served } = (await app.get(`conversations/${(await play(ended, nothing)).id}`)).body;
      const { agent_bot: bot } = (await app.get(`inboxes/${served}/agent_bot`)).body;
      expect(bot).to.include({ plugin_id: 'thinker', quarantine: null });
    });

  it('in the moment in which it settles, waits for the one who overtakes, and then does nothing', async () => {
    const person = new Client({ connectionString: app.databaseUrl });
    await person.connect();
    try {
      const played = await play(
        { ...ended, actions: [handoff] },
        async (_, id) => {
          await person.query('BEGIN');
          await person.query('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [id]);
        },
        {
          settling: async (_, id) => {
            await app.eventually(async () => {
              const waiting = await app.query(
                `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
              );
              return waiting.length > 0;
            });
            await person.query(`UPDATE conversations SET assignee_id = 1 WHERE id = $1`, [id]);
            await person.query('COMMIT');
          },
        },
      );
      expect([played.verdict.errorCode, played.outcome]).to.deep.equal(['superseded', 'superseded']);
      expect(played.written).to.deep.equal([]);
      expect(played.explained).to.include({ reason: 'human_assigned' });
    } finally {
      await person.end();
    }
  });
});

describe('a bot that answers itself', function () {
  this.timeout(60_000);

  it('is told of five of its answers in a row, and not of the sixth', async () => {
    const root = pluginRootOf({ echo: `ctx.reply('Again');` });
    const app = await TestApp.start({ pluginRoot: root.path });
    try {
      const id = await openConversation(app, (await serveInboxes(app, ['echo'])).get('echo'));
      await app.query(`UPDATE agent_bots SET hears_own = true WHERE plugin_id = 'echo'`);
      await app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });
      const decided = () =>
        app.query<{ depth: number; bot_silence: string | null }>(
          `SELECT depth, bot_silence FROM events WHERE conversation_id = $1 AND name = 'message_created' ORDER BY id`,
          [id],
        );
      await app.eventually(async () => (await decided()).some(({ bot_silence: silence }) => silence !== null));
      const chain = (await decided()).map(({ depth, bot_silence: silence }) => [depth, silence]);
      expect(chain).to.deep.equal([
        [0, null],
        [1, null],
        [2, null],
        [3, null],
        [4, null],
        [5, null],
        [6, 'causation_depth'],
      ]);
      await app.eventually(
        async () => (await app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0,
      );
      expect(await messagesOf(app, id)).to.have.lengthOf(7);
      // The next word of the customer begins the count anew.
      await app.post(`conversations/${id}/messages`, { content: 'Hm?', message_type: 'incoming' });
      await app.eventually(async () => (await messagesOf(app, id)).length > 8);
    } finally {
      await app.stop();
      root.remove();
    }
  });
});
