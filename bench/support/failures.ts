import { appendFileSync, writeFileSync } from 'node:fs';
import type { Played } from './chats.ts';
import type { Reached } from './scripted-model.ts';
import { call } from './service.ts';

interface Found {
  title: string;
  score: number;
  answers: boolean;
}

/** Writes the cases that went wrong, with what a search for them finds. Those held out are not shown. */
export async function writeFailures(file: string, url: string, played: readonly Played[]): Promise<void> {
  const failed = played.filter(({ isRight, isHeldOut }) => !isRight && !isHeldOut);
  const texts: string[] = [];
  for (const [kind, ofKind] of Map.groupBy(failed, (one) => one.kind)) {
    texts.push(`# ${kind}: ${ofKind.length} failed of the half that is not held out`);
    for (const one of ofKind) texts.push(await describe(url, one));
  }
  writeFileSync(file, `${texts.join('\n\n')}\n`);
}

/** Adds the cases whose passages did not reach the scripted model, but for those held out. */
export function addUnreached(file: string, reached: readonly Reached[]): void {
  const failed = reached.filter((one) => !one.isHeldOut && !one.isSmallTalk && !one.hasPassages);
  const lines = failed.map(({ kind, language, titles, before, question, rounds }) =>
    JSON.stringify({ kind, language, asked: [...before, question], expected: titles, modelAsked: rounds }),
  );
  appendFileSync(file, `\n# A scripted model, without the right passages\n\n${lines.join('\n')}\n`);
}

async function describe(
  url: string,
  { language, outcome, titles, before, question, reply, unanswered }: Played,
): Promise<string> {
  const path = `articles/search?limit=5&q=${encodeURIComponent(question.slice(0, 1000))}`;
  const { payload } = await call<{ payload: Found[] }>(url, 'GET', path);
  const found = payload.map(({ title, score, answers }) => `${title} ${score.toFixed(2)}${answers ? ' answers' : ''}`);
  return [
    `${language} ${outcome}, expected: ${titles.map((title) => JSON.stringify(title)).join(' or ') || 'none'}`,
    `  asked: ${JSON.stringify([...before, question].join(' → '))}`,
    `  found: ${found.join('; ') || 'nothing'}`,
    ...(before.length > 0 && unanswered !== null ? [`  unanswered: ${JSON.stringify(unanswered)}`] : []),
    ...(reply === null ? [] : [`  reply: ${JSON.stringify(reply.slice(0, 300))}`]),
  ].join('\n');
}
