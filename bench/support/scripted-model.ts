import { call as callOf, FakeModelServer, replies, type Question } from '../../test/support/model-server.ts';
import type { Case } from './cases.ts';

/** A case, and whether it reached the model. */
export interface Reached extends Case {
  /** How often the model was asked. */
  rounds: number;
  /** Whether the passages that it got at first, or after its own search, are of a right article. */
  hasPassages: boolean;
  hasPassagesAtFirst: boolean;
}

/** A model by script, which notes what it is asked. */
export interface ScriptedModel {
  baseUrl: string;
  /** Expects questions about these from now on, which differ in their texts. */
  expect(cases: readonly Case[]): void;
  reachedBy(cases: readonly Case[]): Reached[];
  close(): Promise<void>;
}

/**
 * Starts a model that answers from the passages with the right article if it got them, searches once more if it may, and hands over
 * otherwise.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const server = await FakeModelServer.start();
  let cases: readonly Case[] = [];
  const asked = new Map<Case, boolean[]>();
  server.expect([], (response, question) => {
    const one = cases.find((candidate) => isAbout(question, candidate));
    const isFound = one === undefined || holds(question, one);
    if (one) asked.set(one, [...(asked.get(one) ?? []), isFound]);
    replyOf(question, one, isFound)(response, question);
  });
  return {
    baseUrl: server.baseUrl,
    expect: (next) => (cases = next),
    reachedBy: (chosen) =>
      chosen.map((one) => {
        const rounds = asked.get(one) ?? [];
        const found = { hasPassagesAtFirst: rounds[0] === true, hasPassages: rounds.at(-1) === true };
        return { ...one, rounds: rounds.length, ...found };
      }),
    close: () => server.close(),
  };
}

function isAbout({ body }: Question, { question, before }: Case): boolean {
  const said = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const last = said.at(-1) ?? '';
  if (before.length === 0) return last.trim() === question.trim();
  // Messages that nobody answered are joined.
  return last.endsWith(question) && before.every((message) => said.join('\n').includes(message));
}

function holds({ body }: Question, { titles }: Case): boolean {
  const whole = body.messages.map(({ content }) => content).join('\n');
  return titles.some((title) => whole.includes(`"title":${JSON.stringify(title)}`));
}

function replyOf({ body }: Question, one: Case | undefined, isFound: boolean) {
  const may = (name: string) => body.tools?.some((tool) => tool.function.name === name) === true;
  if (one?.isSmallTalk && may('talk')) return replies.calls(callOf('talk', { text: 'Hello! How can I help you?' }));
  if (isFound && !one?.isSmallTalk) return replies.answer('This is what we know. [1]');
  if (one?.search && may('search')) return replies.calls(callOf('search', { queries: [one.search] }));
  return replies.handoff('The passages do not tell');
}
