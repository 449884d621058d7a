import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Found } from './field-clients.ts';

/** A tool's answer: its text, and what it holds in a form for programs. */
export interface ToolAnswer {
  content: { type: string; text: string }[];
  structuredContent?: Found;
}

interface Reply {
  id: number;
  result?: Found;
  error?: { message: string };
}

/** A server of the Model Context Protocol in a process of its own, spoken to by lines of JSON. */
export class McpClient {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;

  private constructor(program: string, env: Record<string, string>) {
    const { PATH = '', HOME = '' } = process.env;
    this.#process = spawn(process.execPath, [program], { env: { PATH, HOME, ...env } });
    this.#process.stderr.resume();
    createInterface(this.#process.stdout).on('line', (line) => {
      // A library of the server's says there that it found no file of settings.
      if (!line.startsWith('{')) return;
      const reply = JSON.parse(line) as Reply;
      this.#waiting.get(reply.id)?.(reply);
    });
  }

  static async start(program: string, env: Record<string, string>): Promise<McpClient> {
    const client = new McpClient(program, env);
    const clientInfo = { name: 'switchboard-tests', version: '1.0.0' };
    await client.#ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
    client.#write({ method: 'notifications/initialized' });
    return client;
  }

  async tools(): Promise<string[]> {
    const { tools } = await this.#ask('tools/list', {});
    return tools.map(({ name }: Found) => name);
  }

  call(tool: string, args: object): Promise<ToolAnswer> {
    return this.#ask('tools/call', { name: tool, arguments: args });
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await ended;
  }

  #ask(method: string, params: object): Promise<Found> {
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error(`The server ended before it answered ${method}`));
      this.#process.once('exit', died);
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        this.#process.off('exit', died);
        if (error) reject(new Error(error.message));
        else resolve(result);
      });
      this.#write({ id, method, params });
    });
  }

  #write(message: object): void {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

/** The MCP server for Chatwoot, started as its users do: with an address and a token in its environment. */
export function startChatwootMcp(url: string, token: string): Promise<McpClient> {
  const program = fileURLToPath(import.meta.resolve('chatwoot-mcp-server'));
  return McpClient.start(program, { CHATWOOT_BASE_URL: url, CHATWOOT_API_TOKEN: token });
}
