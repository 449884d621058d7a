import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web page of somebody else, at an origin of its own, with a strict policy. */
export interface ForeignPage {
  url: string;
  origin: string;
  /** What its script element is given. */
  show: (attributes: Readonly<Record<string, string>>) => void;
  close: () => void;
}

/** Serves a page that shows the widget of a service, and allows nothing but its own texts and that service. */
export async function startForeignPage(service: string): Promise<ForeignPage> {
  let attributes: Readonly<Record<string, string>> = {};
  const server = createServer((_, response) => {
    const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`);
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src ${service}; base-uri 'none'; require-trusted-types-for 'script'`,
    });
    response.end(`<!doctype html><html lang="en"><title>A shop</title>
      <body><main><h1>A shop</h1></main><script src="${service}/widget.js"${given.join('')}></script></body></html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/shop`,
    origin,
    show: (given) => (attributes = given),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
