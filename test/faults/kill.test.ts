import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { rowsOf, seededRandom, tellSeed } from './helpers.ts';
import { balance, settled } from './ledger.ts';
import { Sink } from './sink.ts';

const victims = 2;
const killsPerVictim = 10;
const writers = 3;
const messagesPerWriter = 6;
const env = {
  DEMO: 'true',
  LEASE_SECONDS: '5',
  WEBHOOK_TIMEOUT_MS: '4000',
  SANDBOX_RUNNERS: '1',
};
// A machine that stands still for as long as an answer may take has its retry a minute later.
const settleMs = 120_000;

/** A service that is killed again and again, and what it acknowledged before. */
class Victim {
  readonly acknowledged = new Set<string>();
  kills = 0;
  readonly #url: string;
  readonly #random: () => number;
  #contactId = 0;
  #inboxId = 0;

  constructor(url: string, random: () => number) {
    this.#url = url;
    this.#random = random;
  }

  async prepare(sinkUrl: string): Promise<void> {
    const service = await (await this.#start()).withoutDemoWebhook();
    const subscriptions = ['conversation_created', 'conversation_status_changed', 'message_created'];
    expect((await service.post('webhooks', { url: sinkUrl, subscriptions })).status).to.equal(201);
    this.#contactId = (await service.post('contacts', { name: 'Customer' })).body.id as number;
    this.#inboxId = (await service.get('inboxes')).body.payload[0].id as number;
    await this.#lifeOf(service);
  }

  async liveAndDie(): Promise<void> {
    await this.#lifeOf(await this.#start());
  }

  /** Lives until nothing is left to deliver. */
  async recover(): Promise<void> {
    const service = await this.#start();
    await settled(this.#url, settleMs);
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
  }

  #start(): Promise<ServiceProcess> {
    return ServiceProcess.start({ databaseUrl: this.#url, env });
  }

  // Killed in the very moment in which one of its writers reads a 201, or a few milliseconds later.
  async #lifeOf(service: ServiceProcess): Promise<void> {
    const patience = 1 + Math.floor(this.#random() * writers * messagesPerWriter);
    const delayMs = Math.floor(this.#random() * 3) * Math.floor(this.#random() * 30);
    let acknowledgements = 0;
    const acknowledge = (content: string) => {
      this.acknowledged.add(content);
      acknowledgements += 1;
      if (acknowledgements !== patience) return;
      if (delayMs === 0) void service.kill();
      else setTimeout(() => void service.kill(), delayMs);
    };
    const names = Array.from({ length: writers }, (_, writer) => `${this.kills} ${writer}`);
    // What fails fails because the service is dead: it was not acknowledged.
    await Promise.allSettled(names.map((name) => this.#write(service, name, acknowledge)));
    this.kills += 1;
    expect(await service.kill()).to.include({ signal: 'SIGKILL' });
  }

  async #write(service: ServiceProcess, name: string, acknowledge: (content: string) => void): Promise<void> {
    const conversation = await service.post('conversations', { inbox_id: this.#inboxId, contact_id: this.#contactId });
    expect(conversation.status).to.equal(201);
    for (let number = 1; number <= messagesPerWriter; number += 1) {
      const content = `What are your opening hours? ${name} ${number}`;
      const path = `conversations/${conversation.body.id}/messages`;
      const { status } = await service.post(path, { content, message_type: 'incoming' });
      expect(status).to.equal(201);
      acknowledge(content);
    }
  }
}

describe('a service that is killed', function () {
  this.timeout(900_000);
  after(killServices);

  it(`${victims * killsPerVictim} times after a 201 loses nothing, repeats nothing unaccounted, and keeps the order`, async () => {
    const random = seededRandom(tellSeed());
    await Promise.all(
      Array.from({ length: victims }, async () => {
        const url = await createDatabase(migrate);
        const sink = await Sink.start({ delayMs: () => Math.floor(random() * 20) });
        const victim = new Victim(url, random);
        await victim.prepare(sink.url);
        while (victim.kills < killsPerVictim) await victim.liveAndDie();
        await victim.recover();

        const accounts = await balance(url, sink.log);
        expect(accounts.duplicates).to.be.at.most(accounts.unknown);
        const arrived = new Set(sink.log.map(({ body }) => body.content));
        const lost = [...victim.acknowledged].filter((content) => !arrived.has(content));
        expect(lost, 'acknowledged, but not delivered').to.deep.equal([]);
        expect(victim.acknowledged.size).to.be.at.least(killsPerVictim);
        console.log(`      ${victim.kills} kills: ${JSON.stringify(accounts)}`);

        // The bot answers every question once, however often its run was cut short; people get what was cut short five times.
        const answers = await rowsOf<{ questions: number; answered: number; ended_by: string[] }>(
          url,
          `SELECT m.conversation_id, count(*) FILTER (WHERE message_type = 'incoming')::int AS questions,
             count(*) FILTER (WHERE sender_kind = 'agent_bot' AND NOT private)::int AS answered,
             (SELECT coalesce(array_agg(DISTINCT d.last_error), '{}') FROM deliveries d
              JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
              WHERE e.conversation_id = m.conversation_id AND d.endpoint_kind = 'bot' AND d.state = 'exhausted') AS ended_by
           FROM messages m GROUP BY m.conversation_id`,
        );
        const wrong = answers.filter(({ questions, answered, ended_by: endedBy }) => {
          return endedBy.join() === 'defect' ? answered >= questions : answered !== questions;
        });
        expect(wrong, 'conversations with unanswered or twice answered questions').to.deep.equal([]);
        await sink.close();
        await dropDatabase(url);
      }),
    );
  });
});
