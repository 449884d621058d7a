import { writeFileSync } from 'node:fs';
import type { Played } from './chats.ts';
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

async function describe(
  url: string,
  { language, outcome, titles, before, question, reply, unanswered }: Played,
): Promise<string> {
  const path = `articles/search?limit=5&q=${encodeURIComponent(question.slice(0, 1000))}`;
  const { payload } = await call<{ payload: Found[] }>(url, 'GET', path);
  const found = payload.map(({ title, score, answers }) => `${title} ${score.toFixed(2)}${answers ? ' answers' : ''}`);
  return [
    `${language} ${outcome}, expected: ${titles.join(' or ') || 'none'}`,
    `  asked: ${JSON.stringify([...before, question].join(' → '))}`,
    `  found: ${found.join('; ') || 'nothing'}`,
    ...(before.length > 0 && unanswered !== null ? [`  unanswered: ${JSON.stringify(unanswered)}`] : []),
    ...(reply === null ? [] : [`  reply: ${JSON.stringify(reply.slice(0, 300))}`]),
  ].join('\n');
}
