import { Facts } from '../../kit/facts.tsx';
import type { Setting } from '../../kit/schema-form.tsx';

/** The settings that bots of a plugin have, in words. */
export function SettingList({ schema: { properties = {} } }: { schema: Setting }) {
  const entries = Object.entries(properties);
  if (entries.length === 0) return <p>No settings.</p>;
  return (
    <details>
      <summary>Settings</summary>
      <Facts facts={entries.map(([name, setting]) => [setting.title ?? name, wordsOf(setting)])} />
    </details>
  );
}

function wordsOf(setting: Setting): string {
  return [setting.description, kindOf(setting)].filter(Boolean).join(' ') || 'Any value.';
}

function kindOf(setting: Setting): string {
  if (setting['x-secret']) return 'Secret.';
  if (setting.enum) return `One of ${setting.enum.map(String).join(', ')}.`;
  return setting.default === undefined ? '' : `Default: ${JSON.stringify(setting.default)}.`;
}
