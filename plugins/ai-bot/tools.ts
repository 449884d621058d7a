import type { ChatAnswer, ChatMessage, ChatTool, ToolCall } from 'switchboard/bot';

/** A request of the account's own, as far as the model gets to know it. */
export interface OwnTool {
  name: string;
  description?: string;
  parameters?: Record<string, unknown>;
}

/** Calls for one message of the customer: a run may call the service 20 times in all. */
const maxCalls = 4;
/** Characters of all arguments, and of a text beside calls, that are repeated to the model. */
const [maxArgumentChars, maxContentChars] = [16_384, 2_000];

/** Functions of the run that calls go through. */
interface Ports {
  call: (name: string, given: ToolCall['arguments']) => Promise<string>;
  warn: (message: string, fields: Record<string, unknown>) => void;
}

/** The calls of the account's tools for one message, and the messages about them for the model. */
export class ToolCalls {
  readonly #tools: readonly OwnTool[];
  readonly #ports: Ports;
  readonly #turns: ChatMessage[] = [];
  #made = 0;
  #charsLeft = maxArgumentChars;
  #hasResult = false;

  constructor(tools: readonly OwnTool[], ports: Ports) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /** Tools that the model may ask for now; none once there were too many calls. */
  get offered(): ChatTool[] {
    if (this.#made >= maxCalls) return [];
    return this.#tools.map(({ name, description = '', parameters = noParameters }) => {
      return { name, description, parameters };
    });
  }

  /** Messages about the calls so far: the model's, and the answers. */
  get turns(): readonly ChatMessage[] {
    return this.#turns;
  }

  /** Whether a tool has told something. */
  get hasResult(): boolean {
    return this.#hasResult;
  }

  /** Whether the model asks for a tool of the account. */
  isAsked({ tool_calls: calls }: ChatAnswer): boolean {
    return calls.some(({ name }) => this.#isOwn(name));
  }

  /** Makes the calls that the model asks for, all at once; its other calls it has to make again. */
  async make({ content, tool_calls: calls }: ChatAnswer): Promise<void> {
    const contents = await Promise.all(calls.map((call) => this.#answerTo(call)));
    // Ids are unique in one answer of a model only.
    const asked = calls.map((call, index) => ({
      ...call,
      id: `${this.#turns.length}-${index}`,
      arguments: this.#repeated(call),
    }));
    this.#turns.push(
      { role: 'assistant', content: content.slice(0, maxContentChars).toWellFormed(), tool_calls: asked },
      ...asked.map(({ id }, index): ChatMessage => ({
        role: 'tool',
        tool_call_id: id,
        content: contents[index] ?? '',
      })),
    );
  }

  // A question to the model has a size, and what the model wrote before must not fill it.
  #repeated({ arguments: given }: ToolCall): ToolCall['arguments'] {
    const chars = JSON.stringify(given).length;
    if (chars > this.#charsLeft) return {};
    this.#charsLeft -= chars;
    return given;
  }

  #isOwn(name: string): boolean {
    return this.#tools.some((tool) => tool.name === name);
  }

  async #answerTo({ name, arguments: given }: ToolCall): Promise<string> {
    if (!this.#isOwn(name)) return failure('call_again', 'Call it once you have the results of the tools');
    this.#made += 1;
    if (this.#made > maxCalls) return failure('too_many_calls');
    try {
      const result = await this.#ports.call(name, given);
      this.#hasResult = true;
      return result;
    } catch (error) {
      const { code = 'failed', message } = error as Error & { code?: string };
      this.#ports.warn('no result of a tool', { tool: name, code, message });
      // Everything else that went wrong is the operator's to know.
      return code === 'bad_arguments' ? failure(code, message) : failure(code);
    }
  }
}

const noParameters = { type: 'object', properties: {} };

function failure(error: string, message?: string): string {
  return JSON.stringify({ error, ...(message === undefined ? {} : { message }) });
}
