import { createServer } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../outbound/certificate.ts';

/** A server of files at https://localhost, whose certificate this process trusts while it runs. */
export interface FileServer {
  /** `localhost:PORT`. */
  host: string;
  /** The paths that were asked for. */
  asked: string[];
  answer: (response: ServerResponse) => unknown;
  close: () => void;
}

/** Starts a server that answers every request by its `answer`. */
export async function startFileServer(): Promise<FileServer> {
  const certificate = selfSigned('localhost');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert]);
  const server = createServer(certificate, (request, response) => {
    files.asked.push(request.url ?? '');
    files.answer(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const files: FileServer = {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: (response) => response.end(),
    close: () => {
      server.close();
      server.closeAllConnections();
      setDefaultCACertificates(trusted);
    },
  };
  return files;
}
