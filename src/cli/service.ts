import { dataDirOf, serviceIn } from '../config.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createServiceClient, type CallService } from '../lib/service-client.ts';
import { readServicePass, type ServicePass } from '../lib/service-pass.ts';

/** The options of commands on the running service: how they find it, and whether they print JSON. */
export interface ServiceOptions {
  url?: string;
  token?: string;
  json?: boolean;
}

/** A list of the service with all its pages. */
export interface Listed<Record> {
  payload: Record[];
  meta: { count: number; current_page: number; total_pages: number };
}

/** The function that calls the service which the options name; see passOf. Throws OperatorError when nothing names one. */
export function serviceOf(options: ServiceOptions): CallService {
  return createServiceClient(passOf(options));
}

/**
 * The service that the options name, else SWITCHBOARD_URL and SWITCHBOARD_TOKEN, else what the last start left in DATA_DIR;
 * the token of that start goes to its address alone. Throws OperatorError when none does.
 */
export function passOf(options: ServiceOptions): ServicePass {
  const named = serviceIn();
  const { url = named.url, token = named.token } = options;
  if (url !== undefined && token !== undefined) return { url, token };
  const dataDir = dataDirOf();
  const pass = readServicePass(dataDir);
  if (!pass) {
    throw new OperatorError(
      `No start has left its address in ${dataDir}: start the service first, name its DATA_DIR here too, or give --url and --token.`,
    );
  }
  if (token === undefined && url !== undefined && !isSame(url, pass.url)) {
    throw new OperatorError(
      `The token that the last start left in ${dataDir} is for ${pass.url} alone: give --token for ${url}.`,
    );
  }
  return { url: url ?? pass.url, token: token ?? pass.token };
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => (URL.canParse(url) ? new URL(url).href.replace(/\/+$/, '') : null));
  return first !== null && first === second;
}

/** All pages of a list of the service, as if it had one. */
export async function readList<Record>(call: CallService, path: string): Promise<Listed<Record>> {
  const first = await call<Listed<Record>>('GET', path);
  const { payload } = first;
  for (let page = 2; page <= first.meta.total_pages; page += 1)
    payload.push(...(await call<Listed<Record>>('GET', `${path}?page=${page}`)).payload);
  return { payload, meta: { count: payload.length, current_page: 1, total_pages: 1 } };
}
