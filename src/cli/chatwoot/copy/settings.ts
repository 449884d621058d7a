import { findRows } from '../../../domain/small-rows.ts';
import { invalid } from '../../../errors.ts';
import { changeInboxMembers, findAssignable } from '../../../domain/inboxes/members.ts';
import { findImported, type ImportedKind } from '../../../domain/imports/imports.ts';
import { importAgent, importInbox, importLabel, importTeam, type Outcome } from '../../../domain/imports/settings.ts';
import { findAgents } from '../../../domain/people/agents.ts';
import { changeTeamMembers, listTeams } from '../../../domain/people/teams.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { Inbox } from '../../../records/inbox.ts';
import { attempt, type CopiedSettings, type Copying, type Ids } from '../copying.ts';
import { listAt, listIfShown } from '../pages.ts';
import type { Counted } from '../report.ts';
import { toAgent, toInbox, toLabel, toTeam } from '../read/settings.ts';
import { idOf, textOf, type Foreign } from '../values.ts';
import { macroSetting, ruleSetting } from './rule-settings.ts';
import { attributeDefinitionSetting, cannedResponseSetting, webhookSettings } from './automation-settings.ts';

interface Made {
  outcome: Outcome;
  localId: number;
}

/** A kind of setting, and how one is copied: `make` in a transaction; null where it cannot be, for the reason `why`. */
export interface Setting {
  counted: Extract<
    Counted,
    | 'inboxes'
    | 'agents'
    | 'teams'
    | 'labels'
    | 'attribute_definitions'
    | 'canned_responses'
    | 'webhooks'
    | 'automation_rules'
    | 'macros'
  >;
  kind: ImportedKind;
  path: string;
  /** The name of the list in the answer's `payload`. */
  listName?: string;
  /** Which of the listed records are such; all by default. */
  isMeant?: (given: Foreign) => boolean;
  /** Whether some editions of Chatwoot refuse the list. */
  isOptional?: boolean;
  why: string;
  make: (tx: Transaction, record: { importId: number; foreignId: number }, given: Foreign) => Promise<Made> | null;
  /** Path of the list of members, and a function that adds agents to the copy. */
  members?: {
    path: (foreignId: number) => string;
    add: (tx: Transaction, localId: number, userIds: number[]) => Promise<void>;
  };
}

const rulesHint =
  'The new rules are in an automation that is off: dry-run it, and turn it on, in the console under Automations.';

/** Copies agents, inboxes, teams and labels, with the members of each, and what else an administrator sets. */
export async function copySettings(copying: Copying): Promise<CopiedSettings> {
  const copiedAgents = await copyAll(copying, agentSetting, new Map());
  const agents = await presentOnes(copying, copiedAgents);
  const authors = new Map([...(await findCopied(copying, 'author')), ...copiedAgents]);
  const copiedInboxes = await copyAll(copying, inboxSetting(copying), agents);
  const teams = await copyAll(copying, teamSetting, agents);
  await copyAll(copying, labelSetting, agents);
  await copyAll(copying, attributeDefinitionSetting(copying), agents);
  await copyAll(copying, cannedResponseSetting(copying), agents);
  for (const setting of webhookSettings(copying, copiedInboxes)) await copyAll(copying, setting, agents);
  if (copying.reporter.report.counts.webhooks.created > 0)
    copying.reporter.hint(
      'The new webhooks are paused, and have new signing secrets: POST …/webhooks/ID/rotate_secret answers one, and on moving day POST …/webhooks/ID/resume sends what waited.',
    );
  if (copying.reporter.report.counts.agents.created > 0)
    copying.reporter.hint(
      'The new agents got no mail. Invite those who shall work here: in the console, or by POST …/agents/ID/resend_invitation.',
    );
  const inboxes = await copying.transact((tx) => presentInboxes(tx, copiedInboxes));
  const [assignable, teamIds] = await copying.transact((tx) =>
    Promise.all([findAllAssignable(tx, inboxes), findTeamIds(tx)]),
  );
  const presentTeams = new Map([...teams].filter(([, id]) => teamIds.has(id)));
  const named = { inboxes, agents, teams: presentTeams };
  await copyAll(copying, ruleSetting(copying, named), agents);
  await copyAll(copying, macroSetting(named), agents);
  if (copying.reporter.report.counts.automation_rules.created > 0) copying.reporter.hint(rulesHint);
  return { inboxes, agents, teams: presentTeams, assignable, authors };
}

async function copyAll(copying: Copying, setting: Setting, agents: Ids): Promise<Ids> {
  const { client, account, reporter } = copying;
  const { kind, counted, path, listName, isOptional = false, isMeant = () => true } = setting;
  const listed = isOptional
    ? await listIfShown(client, account + path)
    : await listAt(client, account + path, listName);
  const records = (listed ?? []).filter(isMeant);
  const ids = await findCopied(copying, kind);
  reporter.theirs(counted, (reporter.report.counts[counted].theirs ?? 0) + records.length);
  for (const [index, given] of records.entries()) {
    copying.show(counted, index, records.length);
    const foreignId = idOf(given['id']);
    if (foreignId !== null && ids.has(foreignId)) reporter.count(counted, 'unchanged');
    else await copyOne(copying, setting, { given, foreignId, agents, ids });
  }
  return ids;
}

async function findCopied({ transact, importId }: Copying, kind: ImportedKind): Promise<Ids> {
  const known = await transact((tx) => findImported(tx.sql, { accountId: tx.account.id, importId }, { kind }));
  return new Map(Array.from(known, ([foreignId, { localId }]) => [foreignId, localId]));
}

/** A record that was not copied yet, and where its id here goes. */
interface Uncopied {
  given: Foreign;
  foreignId: number | null;
  agents: Ids;
  ids: Ids;
}

async function copyOne(copying: Copying, setting: Setting, { given, foreignId, agents, ids }: Uncopied): Promise<void> {
  const { client, account, reporter, transact, importId } = copying;
  const { kind, counted, why, make, members } = setting;
  const name = `${kind} ${foreignId ?? 'without an id'} ${textOf(given['name'] ?? given['title'], 64) ?? ''}`.trim();
  const work = async (): Promise<void> => {
    if (foreignId === null) throw invalid('', 'id', 'it has no id');
    const listed = members ? await listAt(client, account + members.path(foreignId)) : [];
    const userIds = listed.flatMap(({ id }) => agents.get(idOf(id) ?? 0) ?? []);
    const made = await transact(async (tx) => {
      const one = await make(tx, { importId, foreignId }, given);
      if (one === null) throw invalid('', 'foreign', why);
      if (members && one.outcome === 'created' && userIds.length > 0) await members.add(tx, one.localId, userIds);
      return one;
    });
    ids.set(foreignId, made.localId);
    reporter.count(counted, made.outcome === 'created' ? 'created' : 'unchanged');
  };
  await attempt(work, (reason) => reporter.leaveOut(counted, name, reason));
}

const agentSetting: Setting = {
  counted: 'agents',
  kind: 'agent',
  path: '/agents',
  why: 'it has no e-mail address',
  make: (tx, record, given) => {
    const agent = toAgent(given);
    return agent && importAgent(tx, record, agent);
  },
};

function inboxSetting({ random, reporter }: Copying): Setting {
  return {
    counted: 'inboxes',
    kind: 'inbox',
    path: '/inboxes',
    why: 'it has no id',
    make: (tx, record, given) => {
      const { problem, ...inbox } = toInbox(given);
      if (problem !== null) reporter.remark(`inbox ${record.foreignId}`, problem);
      return importInbox(tx, record, { ...inbox, identifier: random.uuid() });
    },
    members: {
      path: (id) => `/inbox_members/${id}`,
      add: (tx, id, userIds) => changeInboxMembers((work) => work(tx), id, { userIds, change: 'add' }),
    },
  };
}

const teamSetting: Setting = {
  counted: 'teams',
  kind: 'team',
  path: '/teams',
  why: 'it has no name',
  make: (tx, record, given) => {
    const team = toTeam(given);
    return team && importTeam(tx, record, team);
  },
  members: {
    path: (id) => `/teams/${id}/team_members`,
    add: (tx, id, userIds) => changeTeamMembers(tx, id, { userIds, change: 'add' }),
  },
};

const labelSetting: Setting = {
  counted: 'labels',
  kind: 'label',
  path: '/labels',
  why: 'its title has no letter or digit',
  make: (tx, record, given) => {
    const label = toLabel(given);
    return label && importLabel(tx, record, label);
  },
};

// Agents who were removed here stay removed.
async function presentOnes({ transact }: Copying, agents: Ids): Promise<Ids> {
  const found = await transact((tx) => findAgents(tx.sql, tx.account.id, [...agents.values()]));
  const here = new Set(found.map(({ id }) => id));
  return new Map([...agents].filter(([, id]) => here.has(id)));
}

// Nothing is read for inboxes that were deleted here.
async function presentInboxes(tx: Transaction, inboxes: Ids): Promise<Ids> {
  const found = await findRows(tx.sql, Inbox, { accountId: tx.account.id, id: { $in: [...inboxes.values()] } });
  const here = new Set(found.map(({ id }) => id));
  return new Map([...inboxes].filter(([, id]) => here.has(id)));
}

async function findAllAssignable(tx: Transaction, inboxes: Ids): Promise<Map<number, ReadonlySet<number>>> {
  const found = new Map<number, ReadonlySet<number>>();
  for (const inboxId of inboxes.values())
    found.set(inboxId, new Set(await findAssignable(tx.sql, tx.account.id, inboxId)));
  return found;
}

async function findTeamIds(tx: Transaction): Promise<ReadonlySet<number>> {
  return new Set((await listTeams(tx.sql, tx.account.id)).map(({ id }) => id));
}
