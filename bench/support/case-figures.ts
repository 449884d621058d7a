import type { Figure } from '../bench.ts';
import type { Outcome, Played } from './chats.ts';
import type { Reached } from './scripted-model.ts';

/** Kinds that a bot can answer by the words of the articles. */
const lexical = ['around-1', 'around-2', 'around-3', 'two-questions', 'typos', 'lower-case', 'forwarded'];
/** Kinds that take a model or vectors. */
const semantic = ['follow-up', 'other-words', 'cross-language'];

const names: Readonly<Record<string, string>> = {
  'around-1': 'one sentence around',
  'around-2': 'two sentences around',
  'around-3': 'three sentences around',
  'two-questions': 'two questions',
  'lower-case': 'lower case, no punctuation',
  forwarded: 'forwarded or quoted mail',
  'follow-up': 'follow-ups',
  'other-words': 'other words',
  'cross-language': 'another language',
  'near-topic': 'near, but off topic',
  'small-talk': 'small talk',
};

/** How a bot without a model took the cases: by kind, then those together for which there are goals. */
export function offlineFigures(played: readonly Played[]): Figure[] {
  const ofKinds = (kinds: readonly string[]) => played.filter(({ kind }) => kinds.includes(kind));
  const order = [...lexical, ...semantic, 'near-topic', 'small-talk'];
  return [
    ...order.map((kind) => offlineFigure(names[kind] ?? kind, ofKinds([kind]), '')),
    offlineFigure('**answerable by their words**', ofKinds(lexical), 'right ≥ 85 %, wrong ≤ 3 %'),
    offlineFigure('**only by a model or vectors**', ofKinds(semantic), 'wrong ≤ 3 %'),
    offlineFigure('**near, but off topic**', ofKinds(['near-topic']), 'wrong (answered) ≤ 5 %'),
  ];
}

function offlineFigure(path: string, played: readonly Played[], goal: string): Figure {
  const count = (outcome: Outcome, of = played) => of.filter((one) => one.outcome === outcome).length;
  const right = (of: readonly Played[]) => of.filter(({ isRight }) => isRight).length;
  const heldOut = played.filter(({ isHeldOut }) => isHeldOut);
  return {
    path,
    unit: '%',
    ours: percentOf(right(played), played.length),
    cells: {
      n: String(played.length),
      right: share(right(played), played.length),
      'of them offered': String(count('offered')),
      'another offered': String(count('offered another')),
      silent: share(count('silent'), played.length),
      wrong: share(count('wrong'), played.length),
      'n held out': String(heldOut.length),
      'right, held out': share(right(heldOut), heldOut.length),
      'wrong, held out': share(count('wrong', heldOut), heldOut.length),
      goal,
    },
  };
}

/** Shares of the cases that reached the scripted model, by kind. */
export function modelFigures(reached: readonly Reached[]): Figure[] {
  return [...Map.groupBy(reached, ({ kind }) => kind)].map(([kind, ofKind]) => {
    const talks = ofKind.every(({ isSmallTalk }) => isSmallTalk);
    const count = (holds: (one: Reached) => boolean, of = ofKind) => of.filter(holds).length;
    const isReached = (one: Reached) => (talks ? one.rounds > 0 : one.hasPassages);
    const heldOut = ofKind.filter(({ isHeldOut }) => isHeldOut);
    return {
      path: names[kind] ?? kind,
      unit: '%',
      ours: percentOf(count(isReached), ofKind.length),
      cells: {
        n: String(ofKind.length),
        'model asked': share(
          count(({ rounds }) => rounds > 0),
          ofKind.length,
        ),
        'right passages at first': talks
          ? '–'
          : share(
              count(({ hasPassagesAtFirst }) => hasPassagesAtFirst),
              ofKind.length,
            ),
        'in the end': talks ? '–' : share(count(isReached), ofKind.length),
        'n held out': String(heldOut.length),
        'in the end, held out': share(count(isReached, heldOut), heldOut.length),
        goal: talks ? 'asked ≥ 95 %' : 'right passages ≥ 95 %',
      },
    };
  });
}

function percentOf(count: number, of: number): number {
  return of === 0 ? 0 : (100 * count) / of;
}

/** A count with its share and Wilson's interval of 95 % around it. */
function share(count: number, of: number): string {
  if (of === 0) return '–';
  const [low, high] = interval(count, of);
  const percent = (value: number) => value.toFixed(value > 0 && value < 10 ? 1 : 0);
  return `${count} = ${percent(percentOf(count, of))} % (${percent(100 * low)}–${percent(100 * high)})`;
}

/** Wilson's score interval: it holds for few cases, and for shares of 0 and 1 as well. */
function interval(count: number, of: number): [low: number, high: number] {
  const z = 1.96;
  const middle = (count + (z * z) / 2) / (of + z * z);
  const half = (z / (of + z * z)) * Math.sqrt((count * (of - count)) / of + (z * z) / 4);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
