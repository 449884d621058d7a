import { dataDirOf } from '../config.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createServiceClient, type CallService } from '../lib/service-client.ts';
import { readServicePass } from '../lib/service-pass.ts';

/** The options by which a command finds the running service. */
export interface ServiceOptions {
  url?: string;
  token?: string;
}

/** The function that calls the service which the options name. Throws OperatorError when they and DATA_DIR name none. */
export function serviceOf({ url, token }: ServiceOptions): CallService {
  if (url !== undefined && token !== undefined) return createServiceClient({ url, token });
  const dataDir = dataDirOf();
  const pass = readServicePass(dataDir);
  if (!pass) {
    throw new OperatorError(
      `No start has left its address in ${dataDir}: start the service first, name its DATA_DIR here too, or give --url and --token.`,
    );
  }
  return createServiceClient({ url: url ?? pass.url, token: token ?? pass.token });
}
