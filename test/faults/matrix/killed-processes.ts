import type { Fault } from './fault.ts';
import { ok, slow } from './manners.ts';
import { until } from './patience.ts';
import type { Producer } from './producer.ts';
import { recoverAll } from './recovery.ts';
import type { Trial } from './trial.ts';
import { Wire, type Moment } from './wire.ts';

const writers = 6;

const killedEngine: Fault = {
  id: 'F1',
  what: 'kill -9 of the only engine under load, again and again, between arrival, answer and record',
  run: async (trial) => {
    const { services, scale } = trial;
    const [kills, messages] = [scale.pick(3, 15), scale.pick(150, 18_000)];
    await services.startWeb();
    await services.startEngine();
    const { receiver } = await trial.receiver('receiver', () => slow(Math.floor(scale.random() * 10)));
    const producer = await trial.producer(writers);
    const writing = producer.write(messages);
    for (let kill = 1; kill <= kills; kill += 1) {
      const wanted = Math.floor((messages * kill) / (kills + 1));
      await until('so many arrivals', () => receiver.arrivals.length >= wanted);
      // In the moment of an arrival, or of the answer to one.
      const { promise, resolve } = Promise.withResolvers<void>();
      receiver.onArrival = () => setTimeout(resolve, Math.floor(scale.random() * 12));
      await promise;
      receiver.onArrival = () => undefined;
      const [engine] = services.engines;
      if (engine) await services.kill(engine);
      await trial.endLeases();
      await services.startEngine();
    }
    await writing;
  },
};

/** Kills the process that answers requests at a moment of a message's transaction, again and again. */
async function killAt(trial: Trial, moment: Moment, kills: number): Promise<void> {
  const { services } = trial;
  const wire = await Wire.to(trial.databaseUrl);
  const databaseUrl = wire.url;
  await services.startWeb({ databaseUrl });
  await services.startEngine();
  await trial.receiver('receiver', () => ok);
  const producer = await trial.producer(2);
  for (let kill = 1; kill <= kills; kill += 1) {
    await producer.write(2);
    const { web } = services;
    const reached = wire.stopAt(moment);
    // A transaction that is stopped before its COMMIT has reached the server can never be committed.
    producer.failed = moment === 'before commit' ? 'prevented' : 'unknown';
    const [conversation = 0] = producer.conversations;
    const writing = producer.writeOne(conversation);
    await Promise.race([reached, writing]);
    if (web) await services.kill(web);
    wire.cut();
    await services.startWeb({ databaseUrl });
    const { key, outcome } = await writing;
    trial.check(outcome !== 'acknowledged', `"${key}" was acknowledged by a process that was stopped ${moment}`);
    producer.failed = 'unknown';
  }
  await producer.write(2);
  await trial.settle();
  await services.stop(services.web ?? (await services.startWeb()));
  await wire.close();
  await services.startWeb();
}

const killedAfterCommit: Fault = {
  id: 'F2',
  what: 'kill -9 of the web process between the commit of a message and its poke and answer',
  run: (trial) => killAt(trial, 'committed', trial.scale.pick(2, 25)),
};

const killedInTransaction: Fault = {
  id: 'F3',
  what: 'kill -9 of the web process within the transaction of a message, before its COMMIT leaves',
  run: (trial) => killAt(trial, 'before commit', trial.scale.pick(2, 25)),
};

const stoppedEngine: Fault = {
  id: 'F7',
  what: 'SIGSTOP of an engine beyond its leases, another one takes over, SIGCONT',
  engines: 2,
  run: async (trial) => {
    const { services, scale } = trial;
    await services.startWeb();
    const first = await services.startEngine();
    const gate = Promise.withResolvers<void>();
    const { receiver } = await trial.receiver('receiver', () => ok);
    const producer = await trial.producer(20);
    // A receiver that has answered well gets several deliveries at once.
    await producer.write(40);
    await trial.settle();
    receiver.conduct = async () => {
      await gate.promise;
      return ok;
    };
    const before = receiver.arrivals.length;
    await producer.write(scale.pick(40, 400));
    await until('deliveries under way', () => receiver.arrivals.length > before + 1);
    const held = await services.disturb('SIGSTOP', async () => {
      process.kill(first.pid, 'SIGSTOP');
      gate.resolve();
      const isLeft = await trial.rows('SELECT FROM lanes WHERE lease_token IS NOT NULL');
      await trial.endLeases();
      await services.startEngine();
      await until('the other engine delivers everything', async () => (await trial.pending()) === 0);
      services.wake(first);
      return isLeft.length;
    });
    await services.disturb('SIGCONT', () => producer.write(scale.pick(40, 400)));
    trial.check(held > 0, 'the stopped engine held no lease');
  },
};

/** Stops processes in order while messages are written and delivered. */
async function stopInOrder(trial: Trial, producer: Producer, rounds: number): Promise<void> {
  const { services, receivers } = trial;
  for (let round = 1; round <= rounds; round += 1) {
    const before = trial.arrivals;
    const writing = producer.write(trial.scale.pick(40, 600));
    await until('deliveries under way', () => trial.arrivals > before + 5);
    const process = round % 2 === 1 ? services.engines[0] : services.web;
    if (!process) throw new Error('There is no process to stop');
    const { code, signal } = await services.stop(process);
    trial.check(code === 0, `the process ended with ${signal ?? code}: ${process.output.slice(-300)}`);
    if (round % 2 === 1) {
      const leased = await trial.rows('SELECT FROM lanes WHERE lease_token IS NOT NULL');
      trial.check(leased.length === 0, `${leased.length} leases were left behind`);
      await services.startEngine();
    } else {
      await services.startWeb();
    }
    await writing;
  }
  const repeated = receivers.flatMap(({ arrivals }) => arrivals).length - new Set(trialIds(trial)).size;
  trial.check(repeated === 0, `${repeated} deliveries were repeated by a stop in order`);
}

function trialIds({ receivers }: Trial): string[] {
  return receivers.flatMap(({ arrivals }) => arrivals.map(({ webhookId }) => webhookId));
}

const stoppedInOrder: Fault = {
  id: 'F8',
  what: 'SIGTERM of engine and web under load',
  run: async (trial) => {
    await trial.services.startWeb();
    await trial.services.startEngine();
    await trial.receiver('receiver', () => slow(Math.floor(trial.scale.random() * 50)));
    const producer = await trial.producer(writers);
    await stopInOrder(trial, producer, trial.scale.pick(2, 10));
  },
};

const claimsOfPoison = 5;

const poison: Fault = {
  id: 'F20',
  what: 'a delivery at whose arrival the engine dies each time',
  run: async (trial) => {
    const { services, scale } = trial;
    await services.startWeb();
    await services.startEngine();
    const { receiver, id } = await trial.receiver('receiver', () => ok);
    const producer = await trial.producer(writers);
    const [conversation = 0] = producer.conversations;
    await producer.writeOne(conversation);
    await trial.settle();
    let deaths = 0;
    const poisonKey = producer.nextKey;
    receiver.conduct = async ({ arrival }) => {
      if (arrival.key !== poisonKey || deaths >= claimsOfPoison) return ok;
      // It may deliver before its start has been noticed here.
      await until('an engine', () => services.engines.length > 0);
      const [engine] = services.engines;
      deaths += 1;
      if (engine) await services.kill(engine);
      return ok;
    };
    await producer.writeOne(conversation);
    for (let death = 1; death <= claimsOfPoison; death += 1) {
      await until('the engine dies', () => deaths >= death && services.engines.length === 0);
      await trial.endLeases();
      await services.startEngine();
    }
    await until('the delivery is given up', async () => (await trial.pending()) === 0);
    await producer.write(scale.pick(30, 300));
    await trial.settle();
    const lost = await trial.rows<{ state: string; last_error: string }>(
      `SELECT state, last_error FROM deliveries WHERE state <> 'delivered'`,
    );
    trial.check(
      JSON.stringify(lost) === JSON.stringify([{ state: 'exhausted', last_error: 'defect' }]),
      `what is not delivered is ${JSON.stringify(lost)}, not the poison alone`,
    );
    await recoverAll(trial, id);
  },
};

export const killedProcesses: readonly Fault[] = [
  killedEngine,
  killedAfterCommit,
  killedInTransaction,
  stoppedEngine,
  stoppedInOrder,
  poison,
];
