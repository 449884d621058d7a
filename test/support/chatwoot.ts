import type { Answer, TestApp } from './app.ts';

type Headers = Record<string, string>;

/** The service as clients of Chatwoot see it, at its base URL. */
export class Profile {
  readonly app: TestApp;

  constructor(app: TestApp) {
    this.app = app;
  }

  get url(): string {
    return `${this.app.url}/chatwoot`;
  }

  /** Calls an operation; a path without a leading slash is relative to account 1. */
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer> {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    return this.app.call(method, `/chatwoot${full}`, body, headers);
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.call('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers?: Headers): Promise<Answer> {
    return this.call('POST', path, body, headers);
  }

  /** The body of a successful answer, which has the status 200 whatever it did. */
  async succeed(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer['body']> {
    const answer = await this.call(method, path, body, headers);
    if (answer.status === 200) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}
