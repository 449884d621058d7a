import { expect } from 'chai';
import { findWidening, type GrantedPermissions } from '../../src/packages/manifest/grants.ts';
import { defaultLimits, type RunLimits } from '../../src/sandbox/run.ts';

const storage = (scopes: string[], maxBytes: number): GrantedPermissions => ({ storage: { scopes, maxBytes } });
const network = (hosts: string[], methods: string[]): GrantedPermissions => ({ network: { hosts, methods } });
const secret = (name: string, hosts: string[]): GrantedPermissions => ({ secrets: [{ name, hosts }] });

/** What a version may do, what the next one may do, and the words that must be among what it widens; none = nothing. */
const rows: [string, GrantedPermissions, GrantedPermissions, string[]][] = [
  ['nothing to nothing', {}, {}, []],
  ['an action', {}, { conversation: ['reply'] }, ['conversation.reply']],
  [
    'another action',
    { conversation: ['reply'] },
    { conversation: ['reply', 'note', 'label'] },
    ['conversation.note', 'conversation.label'],
  ],
  ['fewer actions', { conversation: ['reply', 'note'] }, { conversation: ['note'] }, []],
  ['another order', { conversation: ['reply', 'note'] }, { conversation: ['note', 'reply'] }, []],
  ['a field', { contact: ['name'] }, { contact: ['name', 'email'] }, ['contact.email']],
  ['one field for another', { contact: ['name'] }, { contact: ['email'] }, ['contact.email']],
  ['an action is no field', { contact: ['name'] }, { conversation: ['note'] }, ['conversation.note']],
  ['a history', {}, { history: 1 }, ['latest 1 messages']],
  ['a longer history', { history: 5 }, { history: 6 }, ['latest 6 messages']],
  ['a shorter history', { history: 5 }, { history: 4 }, []],
  ['no history', { history: 5 }, { history: 0 }, []],
  ['a switch', { llm: false }, { llm: true }, ['language model']],
  ['each switch for itself', { notes_read: true, kb: true }, { receive_own: true, kb: true }, ['receive_own']],
  [
    'all switches off',
    { notes_read: true, receive_own: true, llm: true, kb: true, schedule: true, forward: true },
    {},
    [],
  ],
  ['forwarding and alarms', {}, { schedule: true, forward: true }, ['(schedule)', '(forward)']],
  ['a store', {}, storage(['contact'], 1024), ['storage.contact']],
  ['a larger store', storage(['contact'], 1024), storage(['contact'], 1025), ['1025 bytes']],
  ['a smaller store', storage(['contact', 'conversation'], 1024), storage(['contact'], 1000), []],
  ['another scope', storage(['contact'], 1024), storage(['installation'], 10), ['storage.installation']],
  ['no store', storage(['contact'], 1024), { storage: null }, []],
  ['a host', {}, network(['a.example'], ['GET']), ['GET requests to a.example']],
  ['another host', network(['a.example'], ['GET']), network(['b.example'], ['GET']), ['b.example']],
  [
    'another method',
    network(['a.example'], ['GET']),
    network(['a.example'], ['GET', 'POST']),
    ['POST requests to a.example'],
  ],
  ['another port', network(['a.example'], ['GET']), network(['a.example:8443'], ['GET']), ['a.example:8443']],
  ['a host below a wildcard', network(['*.example'], ['GET']), network(['a.example', '*.b.example'], ['GET']), []],
  ['a wildcard above a host', network(['a.example'], ['GET']), network(['*.example'], ['GET']), ['*.example']],
  [
    'a name that ends alike',
    network(['*.shop.example'], ['GET']),
    network(['evilshop.example'], ['GET']),
    ['evilshop'],
  ],
  [
    'the name below which a wildcard is',
    network(['*.shop.example'], ['GET']),
    network(['shop.example'], ['GET']),
    ['shop.example'],
  ],
  ['fewer hosts and methods', network(['a.example', 'b.example'], ['GET', 'PUT']), network(['b.example'], ['PUT']), []],
  ['finding contacts', {}, { contacts: 'read' }, ['Find contacts of the account']],
  ['creating contacts', { contacts: 'read' }, { contacts: 'write' }, ['Find and create contacts']],
  ['finding contacts only', { contacts: 'write' }, { contacts: 'read' }, []],
  ['a secret', {}, secret('KEY', ['a.example']), ['secret KEY to a.example']],
  ['a secret for another host', secret('KEY', ['a.example']), secret('KEY', ['b.example']), ['b.example']],
  ['another secret', secret('KEY', ['a.example']), secret('OTHER', ['a.example']), ['secret OTHER']],
  ['a secret less', secret('KEY', ['a.example', 'b.example']), secret('KEY', ['a.example']), []],
];

const asking = (permissions: GrantedPermissions, limits: Partial<RunLimits> = {}) => ({
  parts: [{ kind: 'bot' as const, isPart: false, permissions, limits: { ...defaultLimits, ...limits } }],
});

describe('packages: what a version widens', () => {
  for (const [title, present, next, words] of rows) {
    it(title, () => {
      const told = findWidening(asking(present), asking(next));
      expect(told).to.have.lengthOf(words.length);
      for (const word of words) expect(told.join('\n')).to.contain(word);
      expect(findWidening(asking(next), asking(next)), 'by itself').to.deep.equal([]);
    });
  }

  it('limits that are raised, not those that are lowered', () => {
    const present = asking({}, { sliceMs: 300, wallMs: 20_000, heapMb: 32 });
    expect(findWidening(present, asking({}, { sliceMs: 400, wallMs: 30_000, heapMb: 64 }))).to.deep.equal([
      'Compute for up to 400 ms at a time (limits.sliceMs)',
      'Take up to 30000 ms for a run (limits.wallMs)',
      'Use up to 64 MiB of memory (limits.heapMb)',
    ]);
    expect(findWidening(present, asking({}, { sliceMs: 200, wallMs: 20_000, heapMb: 16 }))).to.deep.equal([]);
    expect(findWidening(present, asking({}, { sliceMs: 300, heapMb: 33 })), 'one of them').to.have.lengthOf(1);
  });

  it('everything where nothing ran before, but no usual limits', () => {
    expect(findWidening(null, asking({ conversation: ['reply'] }))).to.have.lengthOf(1);
    expect(findWidening(null, asking({}, { heapMb: 64 }))).to.have.lengthOf(1);
  });
});
