import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';

// As long as what is answered may take on a busy machine.
const timeoutMs = 1_500;

const kinds: Readonly<Record<string, object>> = {
  'a webhook bot': {},
  'a bot that forwards': { kind: 'plugin', plugin_id: 'webhook-bot' },
};

for (const [kind, fields] of Object.entries(kinds))
  describe(`the server of ${kind}, when it does not answer,`, function () {
    this.timeout(60_000);
    let app: TestApp;
    let https: HttpsReceiver;
    let botId: number;
    let inboxId: number;
    let isWell: boolean;

    before(async () => {
      app = await TestApp.start({ config: { webhookTimeoutMs: timeoutMs } });
      https = await startHttpsReceiver();
      https.receiver.answerWith((_, response) => {
        if (isWell) response.end();
      });
    });

    beforeEach(async () => {
      isWell = false;
      botId = (await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url, ...fields })).body.id;
      inboxId = (await app.post('inboxes', { name: 'With a bot' })).body.id;
      await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: botId });
    });

    afterEach(async () => {
      await app.query(`UPDATE deliveries SET state = 'cancelled' WHERE state = 'pending'`);
      https.receiver.received.length = 0;
    });

    after(async () => {
      await app.stop();
      await https.close();
    });

    const bot = async () => (await app.get(`agent_bots/${botId}`)).body;
    const posts = () => https.receiver.received.length;

    async function ask(): Promise<number> {
      const { body: contact } = await app.post('contacts', { name: 'Carla' });
      const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id });
      await app.post(`conversations/${body.id}/messages`, { content: 'Hello?', message_type: 'incoming' });
      return body.id;
    }
    const statusOf = async (id: number) => (await app.get(`conversations/${id}`)).body.status;
    const notesOf = async (id: number): Promise<string[]> =>
      (await app.get(`conversations/${id}/messages`)).body.payload
        .filter((message: { private: boolean }) => message.private)
        .map((message: { content: string }) => message.content);

    async function openCircuit(): Promise<number[]> {
      const ids = [await ask(), await ask(), await ask()];
      await app.eventually(async () => (await bot()).circuit.state === 'open');
      return ids;
    }

    // What the hands of the clock say of the waiting, moved back.
    async function pass(seconds: number): Promise<void> {
      await app.query('UPDATE lanes SET due_at = due_at - make_interval(secs => $1) WHERE lease_token IS NULL', [
        seconds,
      ]);
      await app.query(
        `UPDATE deliveries SET next_attempt_at = next_attempt_at - make_interval(secs => $1) WHERE state = 'pending'`,
        [seconds],
      );
    }

    it('is seen in its record; a plugin has no circuit', async () => {
      expect(await bot()).to.deep.include({
        disabled_reason: null,
        circuit: { state: 'closed', consecutive_failures: 0, failing_since: null, next_attempt_at: null },
      });
      await openCircuit();
      const { circuit } = await bot();
      expect(circuit.consecutive_failures).to.be.at.least(3);
      expect(circuit.next_attempt_at).to.be.above(circuit.failing_since);
      const { body: plugin } = await app.post('agent_bots', {
        name: 'Inside',
        kind: 'plugin',
        plugin_id: 'faq',
        config: { human_words: ['colleague'] },
      });
      expect(plugin, JSON.stringify(plugin)).to.include({ circuit: null, disabled_reason: null });
    });

    it('is not asked any more, and people get who has waited for ten minutes, with a note', async () => {
      await openCircuit();
      await app.query(`UPDATE agent_bots SET circuit_probe_at = now() + interval '1 hour'`);
      const asked = posts();
      const waiting = await ask();
      await pass(540);
      // A second word of the customer does not begin the waiting anew.
      await app.post(`conversations/${waiting}/messages`, { content: 'Anybody?', message_type: 'incoming' });
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await statusOf(waiting)).to.equal('pending');
      await pass(120);
      await app.eventually(async () => (await statusOf(waiting)) === 'open');
      expect(await notesOf(waiting)).to.deep.equal(['The bot has not answered anybody for a while. Please take over.']);
      expect(posts()).to.equal(asked);
      const [first] = await app.query<{ state: string; last_error: string; attempts: number }>(
        `SELECT d.state, d.last_error, d.failures AS attempts FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE e.conversation_id = $1 AND e.name = 'message_created' AND d.endpoint_kind = 'bot' ORDER BY d.id`,
        [waiting],
      );
      expect(first).to.deep.include({ state: 'exhausted', last_error: 'circuit_open' });
      expect((await bot()).circuit.state).to.equal('open');
    });

    it('hears what waited once a probe succeeds', async () => {
      await openCircuit();
      const waiting = await ask();
      isWell = true;
      await app.query('UPDATE agent_bots SET circuit_probe_at = now() WHERE id = $1', [botId]);
      await app.eventually(async () => (await bot()).circuit.state === 'closed');
      await app.eventually(async () => {
        const rest = await app.query(
          `SELECT FROM deliveries WHERE endpoint_id = $1 AND endpoint_kind = 'bot' AND state = 'pending'`,
          [botId],
        );
        return rest.length === 0;
      });
      expect(await statusOf(waiting)).to.equal('pending');
      expect(await notesOf(waiting)).to.deep.equal([]);
    });

    it('is given up after five days: its conversations are for people, until its address is set again', async () => {
      const [held] = await openCircuit();
      await app.query(
        `UPDATE agent_bots SET failing_since = now() - interval '5 days', consecutive_failures = 20,
         circuit_probe_at = now() WHERE id = $1`,
        [botId],
      );
      await pass(700);
      await app.eventually(async () => (await bot()).disabled_reason !== null);
      const { disabled_reason: reason, circuit } = await bot();
      expect([reason, circuit.state]).to.deep.equal([
        "Every delivery to the bot's server has failed for 5 days",
        'closed',
      ]);
      const asked = posts();
      // What it still had to answer, and what comes from now on.
      await app.eventually(async () => (await statusOf(held!)) === 'open');
      expect(await statusOf(await ask())).to.equal('open');
      const id = await ask();
      expect((await app.get(`conversations/${id}/agent_bot`)).body).to.include({
        answers: false,
        reason: 'bot_disabled',
      });
      expect(posts()).to.equal(asked);

      isWell = true;
      const { body } = await app.patch(`agent_bots/${botId}`, { outgoing_url: https.receiver.url });
      expect(body).to.deep.include({ disabled_reason: null });
      expect(body.circuit).to.include({ consecutive_failures: 0, failing_since: null });
      const served = await ask();
      expect(await statusOf(served)).to.equal('pending');
      await app.eventually(() => Promise.resolve(posts() > asked));
    });
  });
