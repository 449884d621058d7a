import type { Mutant } from './mutant.ts';

const runs = 'test/browser/runs.test.ts';
const bots = 'test/browser/bots.test.ts';
const plugins = 'test/browser/plugins.test.ts';

export const consoleBots: readonly Mutant[] = [
  {
    file: 'web/console/session.ts',
    text: 'return (administrators === true && isAdministrator())',
    replacement: 'return (administrators === true)',
    test: plugins,
    only: 'are for administrators',
    harm: 'Agents are led to pages that refuse everything.',
  },
  {
    file: 'web/console/pages/bots/replay.tsx',
    text: 'if (replayed.identical) return',
    replacement: 'if (replayed.outcome === run.outcome) return',
    test: runs,
    only: 'replay a run by keyboard',
    harm: 'A replay that says something else to the customer counts as the same.',
  },
  {
    file: 'web/console/pages/bots/deeds.tsx',
    text: "const wasDone = outcome === 'ok';",
    replacement: "const wasDone = outcome !== '';",
    test: runs,
    only: 'show how a run failed',
    harm: 'An operator believes that the customer got an answer that was never sent.',
  },
  {
    file: 'web/console/pages/bots/model-trace.tsx',
    text: 'return /^https?:\\/\\//.test(url) ? (',
    replacement: "return url !== '' ? (",
    test: runs,
    only: 'show what the model was told',
    harm: 'A source that a bot names runs code in the console of whoever follows it.',
  },
  {
    file: 'web/console/pages/bots/runs.tsx',
    text: '...(conversation ? { conversation_id: Number(conversation) } : {}),',
    replacement: '',
    test: runs,
    harm: 'The runs of one conversation are lost among those of all.',
  },
  {
    file: 'web/console/pages/bots/bot-draft.ts',
    text: "draft.tokensPerDay === '' ? null : Number(draft.tokensPerDay)",
    replacement: 'Number(draft.tokensPerDay)',
    test: bots,
    only: 'make an AI bot',
    harm: 'Who empties the bound of a bot silences it.',
  },
  {
    file: 'web/console/pages/bots/bot-fields.tsx',
    text: 'change(name, isWanted ? null : undefined)',
    replacement: 'change(name, undefined)',
    test: bots,
    only: 'make a bot of a plugin',
    harm: 'A secret that somebody wants forgotten stays.',
  },
  {
    file: 'web/console/pages/bots/once-shown.tsx',
    text: '{secret !== undefined && <Code label="Signing secret" text={secret} />}',
    replacement: '',
    test: bots,
    only: 'make a webhook bot',
    harm: "Nobody ever gets the secret that a bot's server verifies with.",
  },
  {
    file: 'web/console/pages/bots/pending-version.tsx',
    text: '!next.permissions.includes(sentence)',
    replacement: 'next.permissions.includes(sentence)',
    test: plugins,
    harm: 'The differences of a version that waits are told the wrong way round.',
  },
  {
    file: 'web/console/pages/bots/install-plugin.tsx',
    text: 'if (error instanceof ServiceError) setProblems(error.sentences);',
    replacement: '',
    test: plugins,
    only: 'refuse what is no package',
    harm: 'Of the problems of a package people are told one at a time.',
  },
  {
    file: 'src/domain/bots/runs.ts',
    text: 'own.account_id = $1 OR own.account_id IS NULL',
    replacement: 'own.account_id = $1',
    test: 'test/runs/records.test.ts',
    only: 'hide the settings of system bots',
    harm: 'What system bots did is missing in the list of all runs.',
  },
  {
    file: 'src/domain/bots/runs.ts',
    text: 'r.agent_bot_id = own.id AND ${visible(actor)}',
    replacement: 'r.agent_bot_id = own.id AND ($2::bigint IS NULL OR true)',
    test: 'test/runs/records.test.ts',
    only: 'show agents what they may see',
    harm: "Agents read in runs what customers wrote to other people's inboxes.",
  },
];
