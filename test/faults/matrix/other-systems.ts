import { FakeMessenger } from '../../support/fake-messenger.ts';
import { FakeTelegram } from '../../support/fake-telegram.ts';
import { FakeWhatsApp } from '../../support/fake-whatsapp.ts';
import { byGithub, send, type HookAnswer } from '../../support/hook-senders.ts';
import { MailServer } from '../../support/mail-server.ts';

const secret = 'a-secret-of-the-hook';

/** Another system, in which customers write and get their answers, with the channel of its inbox. */
export interface OtherSystem {
  channel: { plugin_id: string; config: object; secrets: object };
  customers: readonly string[];
  /** Tells it where its hook is. */
  connect: (hook: string) => unknown;
  /** Has a customer write. */
  write: (customer: string, text: string) => Promise<HookAnswer>;
  stop: () => Promise<void>;
}

/** Hears of a message that the system has got; the system answers when it resolves. */
type Take = (customer: string, text: string) => Promise<void>;

/** Starts a system. */
export type StartSystem = (take: Take) => Promise<OtherSystem>;

/** A system that JSON is posted to. */
export const startMessenger: StartSystem = async (take) => {
  const messenger = await FakeMessenger.start();
  messenger.onTaken = ({ body }) => take(body.to, body.text);
  const config = { api_url: messenger.url, outgoing: { body: { to: '{source_id}', text: '{content}' } } };
  let hook = '';
  return {
    channel: { plugin_id: 'http-channel', config, secrets: { API_TOKEN: 'token', HOOK_SECRET: secret } },
    customers: ['one', 'two', 'three'],
    connect: (url) => (hook = url),
    write: (customer, text) => {
      const body = JSON.stringify({ from: { id: customer }, id: text, text });
      return send(hook, body, byGithub(body, secret, body));
    },
    stop: () => messenger.stop(),
  };
};

export const startTelegram: StartSystem = async (take) => {
  const telegram = await FakeTelegram.start();
  telegram.onSent = ({ fields }) => take(fields.chat_id ?? '', fields.text ?? '');
  const token = '4200:token';
  return {
    channel: {
      plugin_id: 'telegram',
      config: { api_url: telegram.url },
      secrets: { BOT_TOKEN: token, WEBHOOK_SECRET: secret },
    },
    customers: ['101', '102', '103'],
    connect: (url) => telegram.setWebhook(token, { url, secret }),
    write: (customer, text) => telegram.write(token, Number(customer), { text }),
    stop: () => telegram.stop(),
  };
};

export const startWhatsApp: StartSystem = async (take) => {
  const whatsapp = await FakeWhatsApp.start();
  whatsapp.onAccepted = ({ body }) => take(body['to'] as string, body['text'].body as string);
  const [phone, token] = ['106540352242922', 'EAAG-token'];
  whatsapp.admit(phone, token);
  return {
    channel: {
      plugin_id: 'whatsapp',
      config: { api_url: whatsapp.url, phone_number_id: phone },
      secrets: { ACCESS_TOKEN: token, APP_SECRET: FakeWhatsApp.appSecret, VERIFY_TOKEN: secret },
    },
    customers: ['4915111', '4915112', '4915113'],
    connect: (url) => whatsapp.subscribe(phone, url, secret),
    write: (customer, text) => whatsapp.write(phone, customer, { type: 'text', text: { body: text } }),
    stop: () => whatsapp.stop(),
  };
};

/** Mail by SMTP, which comes in by Postmark. */
export const startMail: StartSystem = async (take) => {
  const server = await MailServer.start();
  server.thinking = ({ to, message }) => take(inBrackets.exec(to[0] ?? '')?.[1] ?? '', textOf(message));
  const login = 'postmark:a-long-password';
  let hook = '';
  return {
    channel: {
      plugin_id: 'email',
      config: { address: 'support@example.com' },
      secrets: { WEBHOOK_LOGIN: login, SMTP_URL: server.url },
    },
    customers: ['one@example.org', 'two@example.org', 'three@example.org'],
    connect: (url) => (hook = url),
    write: (customer, text) =>
      send(hook, JSON.stringify(mailOf(customer, text)), {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(login).toString('base64')}`,
      }),
    stop: () => server.close(),
  };
};

const inBrackets = /<(.*)>/;

function textOf(message: string): string {
  return message.slice(message.indexOf('\n\n')).trim();
}

// All mails of a customer answer the first one.
function mailOf(customer: string, text: string): object {
  const headers = { 'Message-ID': idOf(text), References: idOf(`from ${customer} 1`) };
  return {
    MessageID: text,
    From: customer,
    FromFull: { Email: customer, Name: '' },
    To: 'support@example.com',
    Subject: '',
    TextBody: text,
    Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
  };
}

function idOf(text: string): string {
  return `<${text.replaceAll(' ', '.')}>`;
}
