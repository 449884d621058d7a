/** The most lines that a file may have. */
export const maxLines = 300;
/** The most lines that a file of src/lib may have. */
export const maxLibLines = 100;

/** [file, its text, what must be said about it], each planted among the real files. */
export const planted: readonly [string, string, string][] = [
  [
    'src/lib/planted.ts',
    `import { send } from '../domain/conversations/send.ts';`,
    'imports src/domain/conversations/send.ts, which is not below',
  ],
  [
    'src/domain/people/planted.ts',
    `import type { Route } from '../../http/route/route.ts';`,
    'imports src/http/route/route.ts, which is not below',
  ],
  [
    'src/deliveries/planted.ts',
    `export * from '../http/route/mount.ts';`,
    'imports src/http/route/mount.ts, which is not below',
  ],
  [
    'src/events/planted.ts',
    `await import('../domain/conversations/status.ts');`,
    'imports src/domain/conversations/status.ts, which is not below',
  ],
  ['src/records/planted.ts', `import '../app/compose.ts';`, 'imports src/app/compose.ts, which is not below'],
  [
    'src/http/planted.ts',
    `import {\n  routes,\n} from '../api/index.ts';`,
    'imports src/api/index.ts, which is not below',
  ],
  ['bots/faq/planted.ts', `import { sql } from '../../src/postgres/sql.ts';`, 'which is not the bot API'],
  ['bots/faq/planted.ts', `import { readFile } from 'node:fs/promises';`, 'which is not the bot API'],
  ['plugins/x/planted.ts', `import other from '../y/bot.ts';`, 'which is not the bot API'],
  ['src/domain/people/planted.ts', `const key = process.env.KEY;`, 'uses the environment'],
  ['src/domain/people/planted.ts', `const { KEY } = process['env'];`, 'uses the environment'],
  ['src/sandbox/planted.ts', `import ivm from 'isolated-vm';`, 'uses isolated-vm'],
  ['src/sandbox/planted.ts', `import { build } from 'esbuild';`, 'uses the bundler'],
  ['src/sandbox/planted.ts', `import OpenAI from 'openai';`, 'uses the model client'],
  ['src/domain/people/planted.ts', `import { Agenda } from 'agenda';`, 'uses Agenda'],
  ['src/jobs/planted.ts', `import { PostgresBackend } from '@agendajs/postgres-backend';`, 'uses Agenda'],
  ['src/api/planted.ts', `import { request } from 'undici';`, 'uses outbound HTTP'],
  ['src/api/planted.ts', `await fetch(url);`, 'uses fetch'],
  ['src/domain/people/planted.ts', `const { createTransport } = await import('nodemailer');`, 'uses mail'],
  ['src/domain/people/planted.ts', `const now = Date.now();`, 'uses the clock'],
  ['src/domain/people/planted.ts', `const now = new Date();`, 'uses the clock'],
  ['src/domain/people/planted.ts', `const now = new Date;`, 'uses the clock'],
  ['src/domain/people/planted.ts', 'const text = `now: ${Date()}`;', 'uses the clock'],
  ['src/domain/people/planted.ts', `const luck = Math.random();`, 'uses randomness'],
  ['src/domain/people/planted.ts', `import { randomUUID } from 'node:crypto';`, 'uses randomness'],
  ['src/domain/people/planted.ts', `crypto.getRandomValues(bytes);`, 'uses randomness'],
  ['src/sandbox/planted.ts', `import { runInNewContext } from 'node:vm';`, 'uses code from text'],
  ['src/sandbox/planted.ts', `eval(text);`, 'uses code from text'],
  [
    'src/api/planted.ts',
    `import type { Database } from '../postgres/database.ts';`,
    'reaches the database beside its transaction',
  ],
  [
    'src/domain/people/planted.ts',
    `import { Database } from '../../postgres/database.ts';`,
    'reaches the database beside its transaction',
  ],
  ['src/domain/people/planted.ts', `conversation.botSilence = null;`, 'writes the silence'],
  ['src/domain/people/planted.ts', `conversation.botStreak += 1;`, 'writes the silence'],
  ['src/domain/people/planted.ts', `conversation.humanSilence ??= 'human_replied';`, 'writes the silence'],
  ['src/domain/people/planted.ts', `Object.assign(conversation, { botSilence: null });`, 'writes the silence'],
  ['src/sandbox/planted.ts', `conversation['botSilenceOf'] = 7;`, 'writes the silence'],
  ['src/domain/people/planted.ts', 'sql(em, `UPDATE conversations SET human_silence = NULL`);', 'writes the silence'],
  ['src/records/planted.ts', 'const joins = `LEFT JOIN users u ON u.id = m.sender_id`;', 'reads persons'],
  ['src/domain/people/agents.ts', 'sql(em, `SELECT id\nFROM users WHERE email = $1`);', 'reads persons'],
  ['src/api/planted.ts', `import type { User } from '../records/user.ts';`, 'reads persons'],
  ['src/domain/people/planted.ts', 'sql(em, `SELECT id FROM deliveries WHERE id = $1`);', 'speaks SQL of lanes'],
  ['src/deliveries/planted.ts', 'sql(em, `UPDATE lanes SET due_at = now()`);', 'speaks SQL of lanes'],
  ['src/events/planted.ts', 'sql(em, `WITH a AS (INSERT INTO attempts\nSELECT 1) SELECT 1`);', 'speaks SQL of lanes'],
  [
    'src/domain/labels/planted.ts',
    `for (const table of ['events', 'lanes']) await empty(table);`,
    'speaks SQL of lanes',
  ],
  [
    'src/deliveries/queue/planted.ts',
    'sql(em, `SELECT FROM lanes ORDER BY endpoint_id, subject_id FOR UPDATE`);',
    'orders lanes by itself',
  ],
  ['src/app/alarms.ts', `import { send } from '../domain/conversations/send.ts';`, 'which is no sweep'],
  ['src/lib/planted.ts', 'const x = 1;\n'.repeat(maxLines + 1), `has ${maxLines + 1} lines`],
  ['src/postgres/sql.ts', `import { prepared } from './prepared.ts';\nimport './sql.ts';`, 'is a cycle'],
  ['src/lib/planted.ts', `import './not-there.ts';`, 'is missing'],
  ['src/planted.ts', '', 'src/ holds'],
  ['src/planted/planted.ts', '', 'is on no floor'],
  ['src/domain/planted.ts', '', 'is on no floor'],
  ['src/domain/labels/planted.ts', `import { send } from '../bots/removal.ts';`, 'which is not below'],
  ['src/lib/planted.ts', 'const x = 1;\n'.repeat(maxLibLines + 1), 'it deserves a room'],
  ['src/lib/planted.ts', '', 'is used in no room only'],
];

/** Texts that only look like violations. */
export const innocent: readonly [string, string][] = [
  ['src/domain/people/planted.ts', `// new Date() and Math.random() are fenced\nconst day = new Date(text);`],
  ['src/sandbox/planted.ts', `export const isolateText = 'Date.now(); process.env; eval(1)';`],
  ['src/sandbox/planted.ts', 'export const isolateText = `const now = Date.now(); \\`${name}\\` fetch(1)`;'],
  [
    'src/events/planted.ts',
    `import { createHash } from 'node:crypto';\nconst quotes = /['"\`]/; const dates = prefetch(1);`,
  ],
  [
    'src/domain/people/planted.ts',
    `import { sql } from '../../postgres/sql.ts';\nimport { readSeat } from './seats.ts';`,
  ],
  ['src/domain/people/planted.ts', `if (conversation.botSilence === null || conversation.botStreak >= 20) return;`],
  ['src/domain/people/planted.ts', 'sql(em, `SELECT FROM seats u JOIN agents g ON g.user_id = u.id`); // not users'],
  ['src/domain/people/planted.ts', `// Deliveries wait.\ndatabase.announce('deliveries', from(deliveries));`],
  ['bots/faq/planted.ts', `import { defineBot } from 'switchboard/bot';\nimport { words } from './words.ts';`],
  ['src/events/planted.ts', 'const x = 1;\n'.repeat(maxLines)],
];
