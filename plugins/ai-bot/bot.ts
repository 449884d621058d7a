import { defineBot, type CustomerWords, type HandoffCause, type MessageContext, type Passage } from 'switchboard/bot';
import type { Outcome, Reply } from './answer.ts';
import { askModel } from './ask-model.ts';
import { findKeyword } from './keywords.ts';
import { languageOf } from './language.ts';
import { lines, type Lines } from './lines.ts';
import { answerOffline } from './offline.ts';
import { personWishOf } from './person-wish.ts';
import type { Words } from './prompt.ts';
import { findPassages, isShort, questionBefore, withEarlier } from './questions.ts';
import type { OwnTool } from './tools.ts';
import { refuses, smallTalkOf, type SmallTalk } from './small-talk.ts';

/** The settings of an operator; texts that are absent are the default ones in the customer’s language, empty ones are not said. */
export interface Settings {
  system_prompt: string;
  temperature: number;
  max_exchanges: number;
  handoff_keywords: string[];
  greeting_message?: string;
  handoff_message?: string;
  outage_message?: string;
  knowledge: { scope: 'all' | 'selected' | 'none'; tags: string[]; languages: string[] };
  /** Requests of the account's own, which the service makes. */
  tools: OwnTool[];
}

export type Ctx = MessageContext<Settings>;

/** Where the bot remembers the last message that it answered. */
const answeredKey = 'answered';
/** Where it remembers that it has greeted, thanked and reacted. */
const saidKey = { greeting: 'greeted', thanks: 'thanked', reaction: 'reacted' } as const;
/** Where it remembers that its last reply was an offer. */
const offeredKey = 'offered';
// Covers the time in which the rest of a burst may arrive. It expires, because a bot's storage in an account is limited.
const rememberedSeconds = 86_400;

export default defineBot<Settings>({
  on: {
    async message_created(ctx) {
      const keyword = leaveAtKeyword(ctx, ctx.message.content);
      if (keyword) return handOff(ctx, keyword);
      const [answered, replies] = await Promise.all([ctx.storage.get<number>(answeredKey), ctx.replies()]);
      // Skips a message of a burst that was answered with its first message.
      if (ctx.message.id <= (answered ?? 0)) return;
      const last = leaveAtLast(ctx, replies);
      if (last) return handOff(ctx, last);
      const model = await ctx.llm.status();
      if (model?.tokens_left === 0)
        return handOff(ctx, { cause: 'budget', reason: 'The tokens for today are used up' });
      await answerBurst(ctx, model !== null);
    },
  },
});

function leaveAtKeyword(ctx: Ctx, text: string): Leave | null {
  const keyword = findKeyword(text, ctx.config.handoff_keywords);
  return keyword === null ? null : { cause: 'keyword', reason: `The customer wrote “${keyword}”` };
}

function leaveAtLast(ctx: Ctx, replies: number): Leave | null {
  const isOver = replies >= ctx.config.max_exchanges;
  return isOver ? { cause: 'max_exchanges', reason: `${replies} replies in this session` } : null;
}

async function answerBurst(ctx: Ctx, hasModel: boolean): Promise<void> {
  const more = await restOfBurst(ctx);
  const said = [ctx.message, ...more].map(({ content }) => content).join('\n');
  const keyword = leaveAtKeyword(ctx, said);
  if (keyword) return handOff(ctx, keyword);
  // A picture, for example: an earlier question is not the present one.
  if (said.trim() === '') return handOff(ctx, { cause: 'no_answer', reason: 'The customer wrote no words' });
  const done = hasModel ? await answerByModel(ctx, said, more) : await answerAlone(ctx, said);
  if (done === 'silence') return;
  if ('cause' in done) return handOff(ctx, done);
  const { text: content, sources, isOffer, isFromTool } = done;
  ctx.reply({
    content,
    content_attributes: {
      ...(sources.length > 0 ? { sources } : {}),
      ...(isOffer ? { offer: true } : {}),
      ...(isFromTool ? { tool: true } : {}),
    },
  });
  await ctx.storage.set(answeredKey, more.at(-1)?.id ?? ctx.message.id, { ttl: rememberedSeconds });
}

/** Returns the other messages of the burst; none if they are too large, because each message has a run of its own as well. */
function restOfBurst(ctx: Ctx): Promise<CustomerWords[]> {
  return ctx.settled().catch(() => []);
}

type Done = Reply | Leave | 'silence';

async function answerByModel(ctx: Ctx, said: string, more: readonly CustomerWords[]): Promise<Done> {
  const { greeting_message: greeting } = ctx.config;
  // An operator's own greeting is said as it stands.
  if (greeting !== undefined && smallTalkOf(said) === 'greeting') return greetBack(ctx, 'greeting');
  const history = [...ctx.history, ...laterThan(ctx.history, [ctx.message, ...more])];
  const { passages, isFollowUp } = await passagesFor(ctx, said);
  return withPassages(await askModel(ctx, { passages, history, isFollowUp }), passages);
}

/** Answers without a model. */
async function answerAlone(ctx: Ctx, said: string): Promise<Done> {
  const wish = personWishOf(said);
  if (wish === 'clear') return asksForPerson;
  const talk = smallTalkOf(said);
  if (talk) return greetBack(ctx, talk);
  const wasOffered = await takeOffered(ctx);
  if (wasOffered && refuses(said)) return asksForPerson;
  const { scope } = ctx.config.knowledge;
  if (scope === 'none') return { cause: 'no_answer', reason: 'There is neither a model nor a knowledge base' };
  const done = await answerFromArticles(ctx, said, wish === 'likely');
  if (isReply(done) && done.isOffer) await ctx.storage.set(offeredKey, true, { ttl: rememberedSeconds });
  return done;
}

/** Whether the last reply was an offer, which is forgotten. */
async function takeOffered(ctx: Ctx): Promise<boolean> {
  const wasOffered = (await ctx.storage.get<boolean>(offeredKey)) === true;
  if (wasOffered) await ctx.storage.delete(offeredKey);
  return wasOffered;
}

/** Quotes or offers articles. One of them may tell how to get in touch. */
async function answerFromArticles(ctx: Ctx, said: string, wantsContact: boolean): Promise<Reply | Leave> {
  const earlier = isShort(said) ? questionBefore(ctx) : null;
  const [passages, before] = await Promise.all([
    findPassages(ctx, said),
    earlier === null ? [] : findPassages(ctx, earlier),
  ]);
  if (wantsContact && !passages.some(fitsSeveralWords)) return asksForPerson;
  const outcome = answerOffline({ said, passages, before }, await linesOf(ctx));
  return withPassages(outcome ?? { cause: 'no_answer', reason: 'The knowledge base has no answer' }, passages);
}

function isReply(done: Reply | Leave): done is Reply {
  return 'isOffer' in done;
}

const asksForPerson: Leave = { cause: 'keyword', reason: 'The customer asks for a person' };

function fitsSeveralWords({ answers, matches }: Passage): boolean {
  return answers && (matches === null || matches.words > 1);
}

/** Greets, thanks or reacts back, once in a session. */
async function greetBack(ctx: Ctx, talk: SmallTalk): Promise<Done> {
  if ((await ctx.storage.get<boolean>(saidKey[talk])) === true) return 'silence';
  const own = talk === 'greeting' ? ctx.config.greeting_message : undefined;
  const text = own ?? (await linesOf(ctx))[talk];
  await ctx.storage.set(saidKey[talk], true, { ttl: rememberedSeconds });
  return text.trim() === '' ? 'silence' : { text, sources: [], isOffer: false, isFromTool: false };
}

/**
 * The passages for a message, and for what may be a follow-up those of the messages before as well; null without a knowledge base.
 */
async function passagesFor(ctx: Ctx, said: string): Promise<{ passages: Passage[] | null; isFollowUp: boolean }> {
  if (ctx.config.knowledge.scope === 'none') return { passages: null, isFollowUp: false };
  const earlier = questionBefore(ctx);
  const found = await findPassages(ctx, said);
  if (earlier === null || (!isShort(said) && found.some(({ answers }) => answers)))
    return { passages: found, isFollowUp: false };
  return { passages: withEarlier(found, await findPassages(ctx, earlier)), isFollowUp: true };
}

function withPassages(outcome: Outcome, passages: readonly Passage[] | null): Reply | Leave {
  return 'cause' in outcome ? { ...outcome, passages: passages ?? [] } : outcome;
}

// A run that begins late has them in its history already; one of a very long message does not even have that.
function laterThan(history: Ctx['history'], more: readonly Pick<CustomerWords, 'id' | 'content'>[]): Words[] {
  const last = history.at(-1)?.id ?? 0;
  return more.filter(({ id }) => id > last).map(({ content }) => ({ content, message_type: 'incoming', sender: null }));
}

interface Leave {
  cause: HandoffCause;
  reason: string;
  passages?: readonly Passage[];
}

async function handOff(ctx: Ctx, { cause, reason, passages = [] }: Leave): Promise<void> {
  const isOutage = cause === 'model_failed' || cause === 'budget';
  const own = isOutage ? ctx.config.outage_message : ctx.config.handoff_message;
  const message = own ?? (await linesOf(ctx))[isOutage ? 'outage' : 'handoff'];
  ctx.handoff({
    cause,
    reason,
    // In one line: the note for agents has lines of its own.
    passages: passages.map(({ title, url }) => ({ title: title.replace(/\s+/g, ' '), url })),
    ...(message.trim() === '' ? {} : { message }),
  });
}

/** The default texts in the customer's language. */
async function linesOf(ctx: Ctx): Promise<Lines> {
  const written = [...ctx.history.filter(({ message_type: type }) => type === 'incoming'), ctx.message];
  const articles = await ctx.kb.languages().catch(() => []);
  const language = languageOf(
    written.map(({ content }) => content),
    articles,
  );
  return lines[language] ?? lines.en;
}
