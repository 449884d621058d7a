import { findArgumentProblems } from '../../domain/bots/tools/parameters.ts';
import { findToolProblems } from '../../domain/bots/tools/checks.ts';
import { fillSecrets, readTools, type Tool } from '../../domain/bots/tools/tool.ts';
import { findProblems, type Shape } from '../../schemas.ts';
import { isHeaderText } from '../../outbound/request-headers.ts';
import type { DoorRun } from './doors.ts';
import { DoorError, UnavailableError } from './errors.ts';
import type { FetchAnswer, SendRequest } from './fetch.ts';
import type { Redaction } from './redaction.ts';
import type { RequestBudget } from './request-budget.ts';
import { hideSecrets } from './secret-values.ts';
import { requestOf, type ToolRequest } from './tool-request.ts';
import { readResult } from './tool-result.ts';

/** Ports of `ctx.tools`. */
export interface ToolPorts {
  /** The hosts that the account has approved, read anew for each call; null where there is no account to ask, and all are. */
  approvedHosts: (accountId: number) => Promise<readonly string[] | null>;
  /** Whether only tools with GET are called, as in trials: others may change something. */
  readsOnly?: boolean;
}

/** Services that calls of tools go through. */
interface ToolServices {
  ports: ToolPorts | undefined;
  send: SendRequest | undefined;
  redaction: Redaction;
  budget: RequestBudget;
}

/** Milliseconds for which one run may wait for tools: with those for its model it ends before it would be ended. */
const runMs = 14_000;

/** `ctx.tools` of one run: the account's tools, at hosts that it has approved, with secrets that the bot never gets. */
export class ToolDoor {
  readonly #run: DoorRun;
  readonly #services: ToolServices;
  /** Hosts whose results the model may have read: what they say must not get to any other host. */
  readonly #heard = new Set<string>();
  readonly #waiting = new WaitingTime(runMs);

  constructor(run: DoorRun, services: ToolServices) {
    this.#run = run;
    this.#services = services;
  }

  /** Calls a tool; the text of its result. Rejects with a DoorError, of which the model may see the code. */
  async call(input: unknown, signal: AbortSignal): Promise<string> {
    const { ports, send, redaction, budget } = this.#services;
    const { tool, request } = this.#read(input);
    const { host } = new URL(request.url);
    if (this.#heard.size > 0 && !this.#heard.has(host))
      throw new DoorError('other_host', `After a result of another host, ${host} is not called for this message`);
    if (!ports || !send) throw new UnavailableError('tools');
    if (ports.readsOnly && tool.method !== 'GET')
      throw new DoorError('not_called', `A trial calls no tool with ${tool.method}`);
    budget.take();
    const approved = await ports.approvedHosts(this.#run.owner.accountId);
    if (approved && !approved.includes(host))
      throw new DoorError('host_not_approved', `${host} is none of the account's approved hosts`);
    hideSecrets(this.#run, redaction);
    const headers = headersOf(request, this.#run);
    const answer = await this.#waiting.wait((inTime) => send({ ...request, headers }, inTime), signal);
    // Its caller replaces the secrets in it.
    const result = readResult(checked(answer), tool.result);
    this.#heard.add(host);
    return result;
  }

  #read(input: unknown): { tool: Tool; request: ToolRequest } {
    const [problem] = findProblems('runtime/tool-call', input, 'The call');
    if (problem) throw new DoorError('bad_request', problem.message);
    const { name, arguments: given } = input as Shape<'runtime/tool-call'>;
    const tool = this.#tools().find((one) => one.name === name);
    if (!tool) throw new DoorError('unknown_tool', 'The bot has no tool of this name');
    // The settings were checked when they were stored; those of a simulation never were.
    const [fault] = findToolProblems([tool]);
    if (fault) throw new DoorError('bad_tool', fault.message);
    const problems = findArgumentProblems(tool.parameters, given);
    const request = problems.length === 0 ? requestOf(tool, given as Record<string, unknown>) : { problems };
    if ('problems' in request) throw new DoorError('bad_arguments', request.problems.join('; '));
    return { tool, request };
  }

  #tools(): Tool[] {
    const { tools } = this.#run;
    return findProblems('runtime/tools', tools).length === 0 ? readTools(tools as Shape<'runtime/tools'>) : [];
  }
}

function headersOf({ headers }: ToolRequest, run: DoorRun): Record<string, string> {
  const open = (name: string): string => {
    const value = run.secret(name);
    if (value === null) throw new DoorError('secret_missing', `The bot has no value for the secret \`${name}\``);
    return value;
  };
  const filled = Object.entries(headers).map(([name, text]) => [name, fillSecrets(text, open)] as const);
  const broken = filled.find(([, text]) => !isHeaderText(text));
  if (broken)
    throw new DoorError('bad_request', `The header \`${broken[0]}\` has a character that headers cannot have`);
  return Object.fromEntries(filled);
}

function checked(answer: FetchAnswer): string {
  if ('problem' in answer) throw new DoorError(answer.problem.code, answer.problem.message);
  const { status, text } = answer;
  if (status >= 300 && status < 400)
    throw new DoorError('redirect', `The answer is a redirect (${status}): none is followed`);
  if (status < 200 || status > 299) throw new DoorError(`status_${status}`, `The answer has the status ${status}`);
  return text;
}

/** Time that one run waits for tools; calls at the same time count once. */
class WaitingTime {
  #leftMs: number;
  #underWay = 0;
  #since = 0;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** Waits for an answer until the time is up, or the run ends. */
  async wait(send: (signal: AbortSignal) => Promise<FetchAnswer>, signal: AbortSignal): Promise<FetchAnswer> {
    if (this.#underWay === 0) this.#since = performance.now();
    this.#underWay += 1;
    const left = Math.max(0, Math.ceil(this.#leftMs - (performance.now() - this.#since)));
    const inTime = AbortSignal.timeout(left);
    try {
      const answer = await send(AbortSignal.any([signal, inTime]));
      const isLate = 'problem' in answer && answer.problem.code === 'aborted' && inTime.aborted;
      return isLate ? { problem: { code: 'timeout', message: 'The answers of tools took too long' } } : answer;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#leftMs -= performance.now() - this.#since;
    }
  }
}
