import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import { ServiceRefusal, type CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { listOf, printAnswer } from '../terminal/print.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';
import { findArticles, readArticle, type FolderArticle } from './read-folder.ts';

export interface ImportOptions extends ServiceOptions {
  account: number;
  language?: string;
}

/** Result of an import. `errors` names each file or line that was left out. */
interface Told {
  created: number;
  updated: number;
  unchanged: number;
  errors: { file: string; error: string }[];
}
type Answer = Shape<'resources/article-import'>;

// Limits of one request. The service writes it in smaller transactions, because other writers of articles wait for each.
const [batchArticles, batchBytes] = [200, 1024 * 1024];
// Retries and pause while another import into the same account is running.
const [busyTries, busyPauseMs] = [10, 1000];

/**
 * The command `articles import`: a folder of Markdown in parts, so that no limit of a request limits the folder, or a file
 * as it is. Ends with 1 when something was left out.
 */
export async function importArticles(source: string, options: ImportOptions): Promise<void> {
  const found = await stat(source).catch(() => null);
  if (!found) throw new OperatorError(`There is no folder or file ${source}.`);
  const send = sender(options);
  const told = found.isDirectory()
    ? await importFolder(source, send)
    : toldOf(await send(basename(source), await readFile(source)), (line) => `line ${line}`);
  if (told.errors.length > 0) process.exitCode = 1;
  printAnswer(told, options, linesOf);
}

type Send = (name: string, file: Buffer) => Promise<Answer>;

function sender({ account, language, ...options }: ImportOptions): Send {
  const call = serviceOf(options);
  return async (name, file) => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(file)]), name);
    if (language !== undefined) form.set('language', language);
    return patiently(call, `/api/v1/accounts/${account}/articles/import`, form);
  };
}

async function patiently(call: CallService, path: string, form: FormData): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await call<Answer>('POST', path, form);
    } catch (error) {
      const isBusy = error instanceof ServiceRefusal && (error.status === 503 || error.status === 429);
      if (!isBusy || tries === busyTries) throw error;
      await pause(busyPauseMs * tries);
    }
  }
}

async function importFolder(folder: string, send: Send): Promise<Told> {
  const paths = await findArticles(folder);
  if (paths.length === 0) throw new OperatorError(`There is no Markdown file (.md) in ${folder}.`);
  const told: Told = { created: 0, updated: 0, unchanged: 0, errors: [] };
  const bar = new ProgressBar();
  let done = 0;
  try {
    for await (const batch of batchesOf(folder, paths)) {
      bar.show(done / paths.length, `${done} of ${paths.length} files`);
      add(told, await importBatch(batch, send));
      done += batch.length;
    }
  } finally {
    bar.end();
  }
  return told;
}

/** Yields batches of files, each read when it is needed, so that a large folder takes no more memory than a small one. */
async function* batchesOf(folder: string, paths: readonly string[]): AsyncGenerator<FolderArticle[]> {
  let batch: FolderArticle[] = [];
  let bytes = 0;
  for (const path of paths) {
    const article = await readArticle(folder, path);
    batch.push(article);
    bytes += 'json' in article ? Buffer.byteLength(article.json) : 0;
    if (batch.length < batchArticles && bytes < batchBytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function importBatch(batch: readonly FolderArticle[], send: Send): Promise<Told> {
  const unread = batch.flatMap((one) => ('problem' in one ? [{ file: one.path, error: one.problem }] : []));
  const read = batch.filter((one) => 'json' in one);
  const told = { created: 0, updated: 0, unchanged: 0, errors: unread };
  if (read.length === 0) return told;
  const answer = await send('articles.jsonl', Buffer.from(read.map(({ json }) => json).join('\n')));
  add(
    told,
    toldOf(answer, (line) => read[line - 1]?.path ?? `line ${line}`),
  );
  return told;
}

function toldOf({ errors, ...counts }: Answer, fileOf: (line: number) => string): Told {
  return { ...counts, errors: errors.map(({ line, error }) => ({ file: fileOf(line), error })) };
}

function add(sum: Told, { created, updated, unchanged, errors }: Told): void {
  sum.created += created;
  sum.updated += updated;
  sum.unchanged += unchanged;
  sum.errors.push(...errors);
}

function linesOf({ created, updated, unchanged, errors }: Told): string[] {
  const problems = errors.map(({ file, error }) => `${file}: ${error}`);
  return [
    `${created} created, ${updated} updated, ${unchanged} unchanged.`,
    ...listOf(`${errors.length} left out:`, problems),
  ];
}
