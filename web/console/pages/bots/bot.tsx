import './bots.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Facts } from '../../kit/facts.tsx';
import { nameOfFormat } from '../../kit/format-field.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator, isPlatformAdministrator } from '../../session.ts';
import { BotActions } from './bot-actions.tsx';
import type { Bot } from './bot-list.ts';
import { BotSettings } from './bot-settings.tsx';
import { BotTabs } from './bot-tabs.tsx';
import { BotUsage } from './bot-usage.tsx';
import { Health, nameOfKind } from './bot-words.tsx';
import { Inboxes } from './bots.tsx';
import { LatestRuns } from './latest-runs.tsx';
import { OnceShown } from './once-shown.tsx';
import { ServerHealth } from './server-health.tsx';

type Inbox = Reply<'GET inboxes'>['payload'][number];
type Secrets = Reply<'POST agent_bots/:id/reset_access_token'>;

/** Page of a bot: its health, settings, runs, and the health of its server. */
export function BotPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const [secrets, setSecrets] = useState<Secrets | null>(null);
  const bot = useLoad((signal) => call('GET agent_bots/:id', { id, signal }), [id]);
  const inboxes = useLoad((signal) => call('GET inboxes', { signal }));
  return (
    <Page title={bot.value?.name ?? 'Bot'}>
      <Show of={bot}>
        {(value) => (
          <>
            <BotTabs bot={value} present="overview" />
            <Facts facts={factsOf(value, inboxes.value?.payload ?? [])} />
            <Obstacle bot={value} />
            {isOwn(value) && <BotActions bot={value} changed={bot.set} told={setSecrets} />}
            {secrets && <OnceShown of={secrets} />}
            {isOwn(value) && value.outgoing_url !== null && <ServerHealth bot={value} changed={bot.set} />}
            {value.kind !== 'webhook' && <LatestRuns bot={value} />}
            {value.kind !== 'webhook' && <BotUsage id={value.id} />}
            {isOwn(value) && <BotSettings bot={value} changed={bot.set} />}
            {value.system && <p>System bot, shared by all accounts. Platform administrators manage it.</p>}
          </>
        )}
      </Show>
    </Page>
  );
}

// System bots are the platform's, and agents change none.
function isOwn({ system }: Bot): boolean {
  return isAdministrator() && !system;
}

function factsOf(bot: Bot, inboxes: readonly Inbox[]): (readonly [string, ComponentChildren])[] {
  return [
    ['Kind', nameOfKind(bot)],
    ['Plugin', bot.plugin_id === null ? null : <PluginLink key="plugin" id={bot.plugin_id} />],
    ['Description', bot.description],
    ['Health', <Health key="health" bot={bot} />],
    ['Last error', bot.health.last_error],
    ['Failing since', bot.health.state === 'failing' ? <Time key="since" at={bot.health.since} /> : null],
    ['Inboxes', <Inboxes key="inboxes" of={inboxes.filter(({ agent_bot_id: id }) => id === bot.id)} />],
    ['Subscribed events', bot.events.join(', ')],
    ['Server', bot.outgoing_url],
    ['Format', bot.outgoing_url === null ? null : nameOfFormat(bot.format)],
    ['Secrets', bot.secret_names.length > 0 ? bot.secret_names.join(', ') : null],
    ['Missing secrets', bot.missing_secrets.length > 0 ? bot.missing_secrets.join(', ') : null],
    ['Hosts not approved', bot.unapproved_hosts.length > 0 ? bot.unapproved_hosts.join(', ') : null],
    ['Token last used', bot.system ? null : <Time key="used" at={bot.token_last_used_at} />],
  ];
}

function PluginLink({ id }: { id: string }) {
  if (!isPlatformAdministrator()) return <code>{id}</code>;
  return <a href={`/console/plugins/${encodeURIComponent(id)}`}>{id}</a>;
}

const obstacles: Readonly<Record<string, string>> = {
  plugin_missing:
    'Plugin not installed. Conversations are handed off to agents until a platform administrator installs it.',
  plugin_disabled: 'Plugin disabled. Conversations are handed off to agents until a platform administrator enables it.',
  config_invalid:
    'Invalid settings for the running plugin version. Conversations are handed off to agents until you save valid ones.',
};

/** Why nobody hears from it, where there is such a reason. */
function Obstacle({ bot: { quarantine, disabled_reason: reason } }: { bot: Bot }) {
  if (reason !== null)
    return <p class="note error">{obstacles[reason] ?? `Server disabled: ${reason}. Save the URL again to retry.`}</p>;
  if (!quarantine) return null;
  return (
    <div class="note error">
      <p>
        Quarantined after repeated failures ({quarantine.reason.replaceAll('_', ' ')}). Conversations are handed off to
        agents.
      </p>
      <p>
        Since <Time at={quarantine.since} />. Ends{' '}
        {quarantine.until === null ? 'when you release it' : <Time at={quarantine.until} />}.
      </p>
    </div>
  );
}
