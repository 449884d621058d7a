import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../outbound/certificate.ts';

/** A request that a shop got. */
interface Asked {
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  method: string;
}

/** A server at https://localhost that bots ask, with answers good and bad. */
export interface Shop {
  /** `localhost:PORT`. */
  host: string;
  /** Its certificate, PEM, for services that are processes of their own. */
  certificate: string;
  asked: Asked[];
  /** Answers those who asked for /held, and whoever asks for it from now on. */
  release: () => void;
  /** Stops the server and revokes the trust in its certificate. */
  close: () => void;
}

/** Starts a shop; this process trusts its certificate while it runs. */
export async function openShop(): Promise<Shop> {
  const certificate = selfSigned('localhost');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert]);
  const asked: Asked[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const server = createServer(certificate, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', method = '', headers } = request;
      asked.push({ url, method, headers, body: Buffer.concat(chunks).toString() });
      if (url === '/held') void released.then(() => response.end('held'));
      else (answers[url] ?? answerOrder)(response, headers);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    certificate: certificate.cert,
    asked,
    release,
    close: () => {
      server.closeAllConnections();
      server.close();
      setDefaultCACertificates(trusted);
    },
  };
}

type Answer = (response: ServerResponse, headers: IncomingMessage['headers']) => unknown;

const answerOrder: Answer = (response) => {
  response.setHeader('content-type', 'application/json').setHeader('x-total', '5').end('{"state":"on its way"}');
};

const answers: Readonly<Record<string, Answer>> = {
  '/slow': (response) => setTimeout(() => response.end('slow'), 300),
  '/hang': () => undefined,
  '/redirect': (response) => response.writeHead(302, { location: 'https://127.0.0.1/secret' }).end('moved'),
  '/huge': (response) => response.end('x'.repeat(1_048_577)),
  '/large': (response) => response.end('x'.repeat(1_000_000)),
  '/garbage': (response) => response.socket?.end('HTTP/1.1 gar bage\r\n\r\n'),
  '/packed': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.alloc(50)),
  '/binary': (response) => response.end(Buffer.from([0, 0xff, 0xc3, 0x28, 0x41])),
  '/drip': (response) => {
    const dripping = setInterval(() => response.write('.'), 50);
    response.once('close', () => clearInterval(dripping));
  },
  '/hex': (response, headers) => response.end(Buffer.from(String(headers.authorization)).toString('hex')),
  '/php': (response, headers) =>
    response.end(JSON.stringify({ said: headers.authorization }).replaceAll('/', '\\/').replaceAll('+', '\\u002b')),
  '/echo': (response, headers) =>
    response.setHeader('x-echo', String(headers.authorization)).end(JSON.stringify(headers)),
};
