import { expect } from 'chai';
import type { Config } from '../../src/config.ts';
import { adminToken, TestApp } from './app.ts';
import { Maker } from './maker.ts';
import { addPerson, type Person } from './people.ts';

/** Where clients of the field are pointed: by their setting of a base URL, which each of them has. */
export const bases = { default: '', profile: '/chatwoot' } as const;

export type BaseName = keyof typeof bases;

/** A service with an inbox and people, for clients that know Chatwoot. */
export interface FieldHome {
  app: TestApp;
  maker: Maker;
  /** What the client is given as its base URL. */
  url: string;
  /** Of an administrator of the account, and of the platform. */
  token: string;
  agent: Person;
  inbox: number;
  /** By which the public API knows the inbox. */
  identifier: string;
}

// Typed `any`: what a client reads is what its service answered.
// oxlint-disable-next-line typescript/no-explicit-any
export type Found = any;

/** What an operation does at one of the bases. */
interface Outcome<Given> {
  /** Judges what the client returns, or what it throws where `fails`. */
  finds: (found: Found, given: Given) => unknown;
  fails?: true;
  /** Names of the events. */
  says?: readonly string[];
}

/** An operation of a client, on records that are made for it. */
export interface Operation<Client, Given> extends Outcome<Given> {
  /** As the client calls it. */
  name: string;
  given?: (home: FieldHome) => Given | Promise<Given>;
  call: (client: Client, given: Given) => Promise<unknown>;
  /** Where our own contract differs from what the client expects: why, and what it gets there. */
  inDefault?: Outcome<Given> & { because: string };
}

/** An operation, whatever it is given. */
export interface AnyOperation<Client> {
  name: string;
  because: string | undefined;
  play: (client: Client, home: FieldHome, base: BaseName) => Promise<void>;
}

/** A row of a client's table. */
export function operation<Client, Given = FieldHome>(row: Operation<Client, Given>): AnyOperation<Client> {
  return {
    name: row.name,
    because: row.inDefault?.because,
    play: async (client, home, base) => {
      const given = await (row.given ?? ((it: FieldHome) => it as Given))(home);
      const { finds, fails, says = [] } = base === 'default' && row.inDefault ? row.inDefault : row;
      await home.app.events();
      const found = await row.call(client, given).then(
        (answer) => (fails ? expect.fail(`It must be refused, and is ${JSON.stringify(answer)}`) : answer),
        (error: unknown) => {
          if (fails) return error;
          throw error;
        },
      );
      const said = await home.app.eventNames();
      await finds(found, given);
      expect(said).to.deep.equal(says);
    },
  };
}

/** A service for the tests of a client. */
export async function startField(base: BaseName, config: Partial<Config> = {}): Promise<FieldHome> {
  const app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0, ...config } });
  const maker = new Maker(app, 1, {
    mark: 'Field',
    administrator: { id: 1, headers: { api_access_token: adminToken } },
  });
  const agent = await addPerson(app, { name: 'Ann Agent' });
  const inbox = await maker.inbox({ members: [agent] });
  const { identifier } = await maker.call('GET', `inboxes/${inbox}`);
  const url = `${app.url}${bases[base]}`;
  return { app, maker, url, token: adminToken, agent, inbox, identifier };
}

/**
 * Plays a client's table at each base. Where the default differs by design the title says why; what the client gets there is
 * asserted too. `leave` ends what was begun to connect.
 */
export function playClient<Client>(
  client: string,
  table: readonly AnyOperation<Client>[],
  connect: (home: FieldHome) => Client | Promise<Client>,
  leave: () => Promise<unknown> = () => Promise.resolve(),
): void {
  const differing = table.filter(({ because }) => because !== undefined).length;
  for (const base of Object.keys(bases) as BaseName[]) {
    const holding = base === 'default' ? table.length - differing : table.length;
    describe(`${client} at the ${base}: ${holding} of ${table.length} operations as in Chatwoot`, function () {
      this.timeout(60_000);
      let home: FieldHome;
      let connected: Client;

      before(async () => {
        home = await startField(base);
        connected = await connect(home);
      });

      after(async () => {
        await leave();
        await home.app.stop();
      });

      for (const { name, because, play } of table) {
        const difference = base === 'default' && because ? ` (differs: ${because})` : '';
        it(`${name}${difference}`, () => play(connected, home, base));
      }
    });
  }
}

/** What a step does, and the names of the events that it causes. */
interface Play<Client, Made> {
  play: (client: Client, made: Made, home: FieldHome) => unknown;
  says?: readonly string[];
}

/** A step of a flow, which leaves in `made` what later steps need. */
export interface Step<Client, Made> extends Play<Client, Made> {
  name: string;
  /** Where our own contract differs from what the client expects: why, and what happens there. */
  inDefault?: Play<Client, Made> & { because: string };
}

/** Plays what a client does one after the other, at each base. */
export function playFlow<Client, Made extends object>(
  title: string,
  steps: readonly Step<Client, Made>[],
  connect: (home: FieldHome) => Client,
): void {
  const differing = steps.filter(({ inDefault }) => inDefault !== undefined).length;
  for (const base of Object.keys(bases) as BaseName[]) {
    const holding = base === 'default' ? steps.length - differing : steps.length;
    describe(`${title} at the ${base}: ${holding} of ${steps.length} steps as in Chatwoot`, function () {
      this.timeout(60_000);
      let home: FieldHome;
      let client: Client;
      const made = {} as Made;

      before(async () => {
        home = await startField(base);
        client = connect(home);
      });

      after(() => home.app.stop());

      for (const step of steps) {
        const { play, says = [] } = base === 'default' && step.inDefault ? step.inDefault : step;
        const because = base === 'default' && step.inDefault ? ` (differs: ${step.inDefault.because})` : '';
        it(`${step.name}${because}`, async () => {
          await home.app.events();
          await play(client, made, home);
          expect(await home.app.eventNames()).to.deep.equal(says);
        });
      }
    });
  }
}
