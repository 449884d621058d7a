import { createSign } from 'node:crypto';
import type { GetFromAmazon } from '../../src/http/server/hooks/amazon.ts';
import { selfSigned } from '../outbound/certificate.ts';

const amazon = 'https://sns.eu-central-1.amazonaws.com';
const signed = ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type'];

/** Amazon SES with an SNS topic: signs the notifications of mails, and gives out its certificate. */
export class AmazonMail {
  readonly topic = 'arn:aws:sns:eu-central-1:123456789012:mail';
  readonly #key: string;
  readonly #certificate: string;
  #ids = 0;

  constructor() {
    const { key, cert } = selfSigned('sns.amazonaws.com', 2048, 'rsa');
    this.#key = key;
    this.#certificate = cert;
  }

  /** Answers requests for the certificate. */
  readonly get: GetFromAmazon = () => Promise.resolve({ ok: true, body: this.#certificate, bodyCut: false });

  /** Returns the body of a request that brings a notification. */
  notification(message: object): string {
    this.#ids += 1;
    const envelope: Record<string, string> = {
      Type: 'Notification',
      MessageId: `message-${this.#ids}`,
      TopicArn: this.topic,
      Message: JSON.stringify(message),
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: `${amazon}/SimpleNotificationService-0123456789abcdef.pem`,
    };
    const text = signed.map((name) => `${name}\n${envelope[name]}\n`).join('');
    return JSON.stringify({ ...envelope, Signature: createSign('RSA-SHA256').update(text).sign(this.#key, 'base64') });
  }

  /** Returns the notification of a mail that arrived. */
  received(raw: string | Buffer): string {
    return this.notification({
      notificationType: 'Received',
      receipt: { virusVerdict: { status: 'PASS' }, action: { type: 'SNS', encoding: 'BASE64' } },
      mail: { messageId: `ses-${this.#ids}`, source: 'ada@example.org' },
      content: Buffer.from(raw).toString('base64'),
    });
  }
}
