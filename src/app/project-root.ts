import { fileURLToPath } from 'node:url';

/** The folder that holds plugins/ and bots/. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

// In the package that `npm pack` makes, beside the code.
const isSource = import.meta.filename.endsWith('.ts');

/** The folder of what `switchboard prepare` makes: plugins as they were read, and the template of databases. It may be read-only. */
export const preparedFolder = fileURLToPath(new URL(isSource ? '../../prepared' : '../prepared', import.meta.url));
