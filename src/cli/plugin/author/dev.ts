import { watch } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { OperatorError } from '../../../lib/operator-error.ts';
import { openGate } from '../../../lib/outbound-gate.ts';
import { systemClock } from '../../../lib/ports.ts';
import { printable } from '../../../lib/text/printable.ts';
import { createOutboundHttp } from '../../../outbound/http.ts';
import { PluginError } from '../../../packages/plugin-error.ts';
import { sendOutbound } from '../../../runs/doors/send.ts';
import { openChat, type Chat } from '../../../testing/chat.ts';

export interface DevOptions {
  config?: Record<string, unknown>;
  secrets?: Record<string, string>;
  json?: boolean;
}

const settleMs = 100;
/** The bounds of requests; a service has them in its configuration. */
const requests = {
  gate: openGate,
  allowCidrs: [],
  timeoutMs: 10_000,
  maxResponseBytes: 1024 * 1024,
  connectionsPerOrigin: 8,
};
const help = `A line is a message of the customer. Commands:
  /human           a person takes the conversation over      /back      and gives it back to the bot
  /say TEXT        a person answers                          /resolve   and resolves it
  /wait SECONDS    lets time pass                            /widget    the customer opens the widget
  /state           shows the conversation                    /quit      ends the chat`;

/**
 * The command `plugin dev`: a chat with the bot in the terminal, without a database; it is read again when a file changes, and
 * its requests are sent to the hosts that its manifest lists.
 * Input may come from a pipe. Resolves at its end. Throws OperatorError for a package that cannot be used.
 */
export async function chatWithPlugin(directory: string, { json = false, ...options }: DevOptions): Promise<void> {
  const say = (kind: string, text: string): void => {
    if (json) console.log(JSON.stringify({ kind, text }));
    else for (const line of text.split('\n')) console.log(printable(line));
  };
  const outbound = createOutboundHttp(requests);
  const send = sendOutbound({ secure: outbound, plain: outbound }, requests.maxResponseBytes);
  const chat = await open(directory, { ...options, send, now: systemClock.now(), told: (line) => say('line', line) });
  const isTyped = process.stdin.isTTY;
  say('ready', `${chat.name}. ${isTyped ? help : '/help lists the commands.'}`);
  const stop = reloadAtChanges(directory, chat, say);
  try {
    const lines = createInterface({
      input: process.stdin,
      ...(isTyped ? { output: process.stdout, prompt: '> ' } : {}),
    });
    if (isTyped) lines.prompt();
    for await (const line of lines) {
      if (line.trim() === '/quit') break;
      await obey(chat, line.trim(), say);
      if (isTyped) lines.prompt();
    }
    lines.close();
  } finally {
    stop();
    await chat.close();
    await outbound.close();
  }
}

async function open(directory: string, options: Parameters<typeof openChat>[1]): Promise<Chat> {
  try {
    return await openChat(directory, options);
  } catch (error) {
    if (error instanceof PluginError)
      throw new OperatorError(error.problems.map((text) => `error: ${text}`).join('\n'));
    throw error;
  }
}

type Say = (kind: string, text: string) => void;

/** Reads the package again after a change of a file; the returned function ends that. */
function reloadAtChanges(directory: string, chat: Chat, say: Say): () => void {
  let timer: NodeJS.Timeout | undefined;
  const reload = async (): Promise<void> => {
    const problems = await chat.reload();
    if (problems === null) return;
    if (problems.length === 0) say('reloaded', '* read again');
    else say('problem', ['! the version before stays:', ...problems].join('\n  '));
  };
  const watcher = watch(resolve(directory), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), settleMs);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

async function obey(chat: Chat, line: string, say: Say): Promise<void> {
  const { sim } = chat;
  const [word = '', rest = ''] = line.split(/\s+(.*)/s);
  const commands: Record<string, () => Promise<void> | void> = {
    '': () => undefined,
    '/help': () => say('help', help),
    '/human': () => sim.human.takesOver(),
    '/back': () => sim.human.givesBack(),
    '/say': () => sim.human.says(rest),
    '/resolve': () => sim.human.resolves(),
    '/widget': () => sim.opensWidget(),
    '/wait': () => sim.advance(Number(rest) || 0),
    '/state': () => say('state', JSON.stringify(sim.conversation)),
  };
  const command = commands[word];
  try {
    if (command) await command();
    else if (word.startsWith('/')) say('help', `There is no command ${word}.\n${help}`);
    else await sim.customer(line);
  } catch (error) {
    say('problem', `! ${error instanceof Error ? error.message : String(error)}`);
  }
}
