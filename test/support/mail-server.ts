import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A received mail: envelope, and the message with its headers. */
export interface ReceivedMail {
  from: string;
  to: string[];
  message: string;
}

/** An SMTP server on loopback that stores mails, or refuses every recipient, or hangs up on those that it has stored. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  refusing = false;
  hangingUp = false;
  /** Awaited before it confirms a mail. */
  thinking: (mail: ReceivedMail) => Promise<void> = () => Promise.resolve();
  /** Milliseconds before its greeting. */
  greetingMs = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#talk(socket));
  }

  static async start(): Promise<MailServer> {
    const server = new MailServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #talk(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    let mail: ReceivedMail = { from: '', to: [], message: '' };
    let pending = '';
    let inMessage = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const confirm = (kept: ReceivedMail) => {
      if (this.hangingUp) socket.destroy();
      else void this.thinking(kept).then(() => say('250 kept'));
    };
    const hear = (line: string) => {
      if (inMessage) {
        if (line !== '.') mail.message += `${line}\n`;
        else {
          inMessage = false;
          this.received.push(mail);
          confirm(mail);
          mail = { from: '', to: [], message: '' };
        }
        return;
      }
      const [, command = '', rest = ''] = /^(\w+)\s*(.*)$/.exec(line) ?? [];
      if (/^EHLO|HELO$/i.test(command)) say('250 test');
      else if (command === 'MAIL') {
        mail.from = rest;
        say('250 ok');
      } else if (command === 'RCPT') {
        mail.to.push(rest);
        say(this.refusing ? '550 no such mailbox' : '250 ok');
      } else if (command === 'DATA') {
        inMessage = true;
        say('354 go on');
      } else if (command === 'QUIT') socket.end('221 bye\r\n');
      else say('250 ok');
    };
    setTimeout(() => say('220 test'), this.greetingMs);
    socket.on('data', (chunk) => {
      const lines = (pending + chunk.toString()).split('\r\n');
      pending = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
  }
}
