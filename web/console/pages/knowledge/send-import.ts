import type { Reply } from '../../../shared/call.ts';
import { ServiceError } from '../../../shared/service-error.ts';
import { call } from '../../session.ts';
import { partsOf, type Part } from './import-parts.ts';

/** Progress of an import. */
type ImportResult = Reply<'POST articles/import'>;

/** How far an import is: lines, or undefined where a file is sent as a whole. */
export interface ImportProgress {
  done: number;
  total: number | undefined;
  result: ImportResult;
}

interface Options {
  language: string;
  signal: AbortSignal;
  told: (progress: ImportProgress) => void;
}

const nothingYet: ImportResult = { created: 0, updated: 0, unchanged: 0, errors: [] };
// Somebody else imports into the same account.
const [busyTries, busyPauseMs] = [6, 1_000];

/** Imports a file of articles, lines in parts, an archive as a whole. Rejects with a ServiceError; what was told is done then. */
export async function importFile(file: File, options: Options): Promise<void> {
  if (!/\.(?:jsonl|ndjson)$/i.test(file.name)) return sendWhole(file, options);
  const parts = partsOf(new Uint8Array(await file.arrayBuffer()));
  const total = parts.reduce((count, { lines }) => count + lines, 0);
  let result = nothingYet;
  let done = 0;
  options.told({ done, total, result });
  for (const part of parts) {
    result = sum(result, await patiently(numbered(part), file.name, options));
    done += part.lines;
    options.told({ done, total, result });
  }
}

async function sendWhole(file: File, options: Options): Promise<void> {
  options.told({ done: 0, total: undefined, result: nothingYet });
  const result = await patiently(file, file.name, options);
  options.told({ done: 1, total: 1, result });
}

async function patiently(file: Blob, name: string, { language, signal }: Options): Promise<ImportResult> {
  for (let tries = 1; ; tries += 1) {
    const form = new FormData();
    form.set('file', file, name);
    if (language !== '') form.set('language', language);
    try {
      return await call('POST articles/import', { form, signal });
    } catch (error) {
      const isBusy = error instanceof ServiceError && (error.status === 503 || error.status === 429);
      if (!isBusy || tries === busyTries || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs * tries));
    }
  }
}

// Behind empty lines for those before it, so that the service tells errors by the lines of the whole file.
function numbered({ bytes, linesBefore }: Part): Blob {
  return new Blob(['\n'.repeat(linesBefore), bytes]);
}

function sum(before: ImportResult, of: ImportResult): ImportResult {
  return {
    created: before.created + of.created,
    updated: before.updated + of.updated,
    unchanged: before.unchanged + of.unchanged,
    errors: [...before.errors, ...of.errors],
  };
}
