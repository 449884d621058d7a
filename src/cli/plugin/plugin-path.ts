const plugins = '/platform/api/v1/plugins';

/** The path of all plugins, or of one, of the platform's API. */
export function pluginPath(id?: string): string {
  return id === undefined ? plugins : `${plugins}/${encodeURIComponent(id)}`;
}
