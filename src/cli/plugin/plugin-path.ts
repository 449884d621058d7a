import { ServiceRefusal, type CallService } from '../../lib/service-client.ts';
import { serviceOf, type ServiceOptions } from '../service.ts';

const plugins = '/platform/api/v1/plugins';

/** The path of all plugins, or of one, of the platform's API. */
export function pluginPath(id?: string): string {
  return id === undefined ? plugins : `${plugins}/${encodeURIComponent(id)}`;
}

/** Like serviceOf, for a command on one plugin: a refusal because it is not there names it. */
export function pluginServiceOf(id: string, options: ServiceOptions): CallService {
  const call = serviceOf(options);
  return async <Reply>(method: string, path: string, body?: object): Promise<Reply> => {
    try {
      return await call<Reply>(method, path, body);
    } catch (error) {
      if (!(error instanceof ServiceRefusal) || !error.message.endsWith('Plugin not found')) throw error;
      throw new ServiceRefusal(
        error.status,
        `${error.message}: ${id}. npx switchboard plugin list shows those there are.`,
      );
    }
  };
}
