import { OperatorError } from '../../../lib/operator-error.ts';
import { PluginError } from '../../../packages/plugin-error.ts';

/** Returns the plugin that is read. Throws OperatorError with all its problems where no service would take it. */
export async function orRefuse<Plugin>(reading: Promise<Plugin>): Promise<Plugin> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    const problems = error.problems.map((problem) => `  - ${problem}`);
    throw new OperatorError(['No service would take this plugin:', ...problems].join('\n'), { cause: error });
  }
}
