import { expect } from 'chai';
import { catalog } from '../../src/events/catalog.ts';
import { documents } from '../../src/schemas.ts';

/** The texts that a definition of a schema document allows. */
function allowed(document: string, find: (definitions: Record<string, Definition>) => Definition | undefined) {
  const { $defs } = documents.get(document) as { $defs: Record<string, Definition> };
  return find($defs)?.enum;
}

interface Definition {
  enum?: string[];
  items?: Definition;
}

describe('every event', () => {
  const heardBy = (audience: 'account' | 'bot') =>
    Object.entries(catalog).flatMap(([name, entry]) => (audience in entry ? [name] : []));

  it('that account webhooks hear can be subscribed to, and no other', () => {
    const names = allowed('common', ({ subscriptions }) => subscriptions?.items);
    expect(names).to.have.members(heardBy('account'));
  });

  it('that bots or automations hear can be named in a manifest, and no other', () => {
    expect(allowed('runtime/plugin', ({ event }) => event)).to.have.members([
      // Hooks need no entry.
      ...new Set([...heardBy('bot'), ...heardBy('account')].filter((name) => name !== 'hook_received')),
    ]);
  });
});
