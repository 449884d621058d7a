import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../outbound/certificate.ts';
import { Receiver } from './receiver.ts';

/** An https receiver with a certificate of its own. */
export interface HttpsReceiver {
  receiver: Receiver;
  /** Stops the receiver and revokes the trust in its certificate. */
  close: () => Promise<void>;
}

/**
 * Starts a receiver at https://localhost whose certificate this process trusts while it runs, by the same way an
 * operator's own authority would be: among Node's default ones. The service under test needs no door for it.
 */
export async function startHttpsReceiver(): Promise<HttpsReceiver> {
  const certificate = selfSigned('localhost');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert]);
  const receiver = await Receiver.start(certificate);
  return {
    receiver,
    close: async () => {
      await receiver.close();
      setDefaultCACertificates(trusted);
    },
  };
}
