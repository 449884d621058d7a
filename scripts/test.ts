// `npm test`: runs the test files in several processes at once (scripts/test-run.ts), prints each file as it ends and
// each failure as it happens, then the slowest files, what failed, and the sum as the last line.
//   npm test                           everything
//   npm test -- --changed [REF]        what changes since REF (the last commit unless named) concern, within three minutes
//   npm test -- test/api --grep label  files by part of their path; tests by title
//   npm test -- --record               also writes test/durations.json, by which files are dealt
//   npm test -- --retry test/api       runs files that failed once more, alone, as a run of everything does
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changedFiles, chooseChanged } from './changed-tests.ts';
import { runFiles, type FileReport, type Report } from './test-run.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const recorded = join(root, 'test/durations.json');
const detailed = join(root, 'node_modules/.cache/switchboard');
const slowestShown = 20;
/** Characters of a reason in the list at the end, so that a log which keeps only its end names every failure. */
const maxReason = 300;
/** Files that are run again; when more have failed, it is not the machine that was busy. */
const maxRetried = 8;
/** Assumed duration of a file that is not recorded: it begins early, because it could be a long one. */
const unknownSeconds = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string', short: 'g' },
    changed: { type: 'boolean' },
    record: { type: 'boolean' },
    retry: { type: 'boolean' },
  },
});
const seconds = JSON.parse(readFileSync(recorded, 'utf8')) as Record<string, number>;
const secondsOf = (file: string): number => seconds[file] ?? unknownSeconds;

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Chooses the files of this run, longest first, so that none of them begins last. */
function chooseFiles(): string[] {
  const all = globSync('test/**/*.test.ts', { cwd: root });
  const outside = positionals.filter((path) => path.endsWith('.test.ts') && !all.includes(path) && existsSync(path));
  const chosen = values.changed
    ? chooseChanged({ files: all, changed: changedFiles(root, positionals[0] ?? 'HEAD'), secondsOf, read })
    : [
        ...all.filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part))),
        ...outside,
      ];
  return chosen.sort((one, other) => secondsOf(other) - secondsOf(one) || one.localeCompare(other));
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const begun = performance.now();
const files = chooseFiles();
let reports: FileReport[] = [];
const problems: string[] = [];
/** A line for each failed test, repeated at the end: tools that shorten a long output keep its end. */
const failures: string[] = [];

function show(message: Report): void {
  if (message.kind === 'failed') {
    const title = `  FAILED ${message.file}: ${message.title}`;
    failures.push(`${title}\n    ${message.reason.slice(0, maxReason)}`);
    return console.log(`${title}\n    ${message.reason}`);
  }
  if (message.kind === 'skipped') return console.log(`  skipped ${message.file}: ${message.title}`);
  if (message.kind === 'ended') return void (message.problem !== null && problems.push(message.problem));
  showFile(message);
}

function showFile(report: FileReport): void {
  reports.push(report);
  const { file, passed, failed, ms } = report;
  const place = `${String(reports.length).padStart(String(files.length).length)}/${files.length}`;
  const counts = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} FAILED`;
  console.log(`${place} ${inSeconds(ms).padStart(7)}  ${file}: ${counts}`);
}

function showSlowest(): void {
  const slowest = reports.toSorted((one, other) => other.ms - one.ms).slice(0, slowestShown);
  console.log(
    `\nThe ${slowest.length} slowest files (in hooks, computing in all processes), each with its slowest test:`,
  );
  for (const { file, ms, hooksMs, cpuMs, tests } of slowest) {
    const test = tests.toSorted((one, other) => other.ms - one.ms)[0];
    const most = test ? `; ${inSeconds(test.ms)} ${test.title}` : '';
    console.log(`${inSeconds(ms).padStart(8)} (${inSeconds(hooksMs)}, ${inSeconds(cpuMs)})  ${file}${most}`);
  }
}

/** Runs each file that has failed once more, alone; its second result counts, and the first one is still printed. */
async function retryFailed(): Promise<string[]> {
  const failed = reports.filter((report) => report.failed > 0);
  if (failed.length === 0 || failed.length > maxRetried) return [];
  console.log(`\n${failed.length} files failed: each runs once more, alone`);
  reports = reports.filter((report) => report.failed === 0);
  const first = failures.splice(0);
  for (const { file } of failed) await runFiles({ files: [file], options, onMessage: show });
  const failedAgain = new Set(reports.filter((report) => report.failed > 0).map(({ file }) => file));
  for (const report of failed) if (!failedAgain.has(report.file)) console.log(report.failures);
  return first.filter((line) => failed.some(({ file }) => !failedAgain.has(file) && line.includes(` ${file}: `)));
}

function writeTimes(): void {
  mkdirSync(detailed, { recursive: true });
  writeFileSync(join(detailed, 'test-times.json'), JSON.stringify(reports, null, 1));
  if (!values.record) return;
  const byName = reports.toSorted((one, other) => one.file.localeCompare(other.file));
  const pairs = byName.map(({ file, ms }) => [file, Math.ceil(ms / 1000)]);
  writeFileSync(recorded, `${JSON.stringify(Object.fromEntries(pairs), null, 2)}\n`);
}

console.log(`${files.length} test files`);
const options = { grep: values.grep ?? null };
await runFiles({ files, options, onMessage: show });
const isWhole = positionals.length === 0 && !values.changed;
const unsteady = (values.retry ?? isWhole) ? await retryFailed() : [];
showSlowest();
writeTimes();
for (const report of reports.filter(({ failed }) => failed > 0)) console.log(report.failures);
for (const problem of problems) console.log(`After the tests: ${problem}`);
if (unsteady.length > 0) console.log(`\nUnsteady, these passed when their file ran again:\n${unsteady.join('\n')}`);
if (failures.length > 0) console.log(`\n${failures.join('\n')}`);
const sum = (of: 'passed' | 'failed'): number => reports.reduce((total, report) => total + report[of], 0);
const [passed, failed] = [sum('passed'), sum('failed') + problems.length];
const cpuMs = reports.reduce((total, report) => total + report.cpuMs, 0);
console.log(`\n${inSeconds(performance.now() - begun)}, computing ${inSeconds(cpuMs)} in all processes`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
