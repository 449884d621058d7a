import './automations.css';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';
import type { Automation } from '../bots/bot-list.ts';
import { AutomationHealth } from './automation-health.tsx';
import { AutomationRuns } from './automation-runs.tsx';
import { AutomationSettings } from './automation-settings.tsx';
import { State, Switch } from './automations.tsx';

/** Page of an automation: its settings, a dry run, and its runs. */
export function AutomationPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const loaded = useLoad((signal) => call('GET automations/:id', { id, signal }), [id]);
  const { value: automation } = loaded;
  const mayChange = isAdministrator();
  return (
    <Page
      title={automation?.name ?? `Automation ${id}`}
      above={<a href="/console/automations">Automations</a>}
      actions={
        automation &&
        mayChange && (
          <>
            <Switch automation={automation} changed={loaded.reload} />
            <Removal automation={automation} />
          </>
        )
      }
    >
      <Show of={loaded}>
        {(shown) => (
          <>
            <Facts facts={factsOf(shown)} />
            {mayChange && <AutomationSettings key={shown.id} automation={shown} changed={loaded.set} />}
            <AutomationRuns automation={shown} />
          </>
        )}
      </Show>
    </Page>
  );
}

function factsOf(automation: Automation) {
  const { active, health, plugin_id: plugin, missing_secrets: missing, created_at: at } = automation;
  return [
    ['State', <State key="state" active={active} />],
    ['Health', <AutomationHealth key="health" health={health} />],
    ['Last error', health.last_error],
    ['Missing secrets', missing.length > 0 ? missing.join(', ') : null],
    ['Plugin', plugin],
    ['Created', <Time key="created" at={at} />],
  ] as const;
}

function Removal({ automation: { id, name } }: { automation: Automation }) {
  return (
    <Action
      kind="danger"
      label={`Delete ${name}`}
      question={`The automation “${name}” is deleted with its runs.`}
      done={`Automation “${name}” deleted.`}
      act={async () => {
        await call('DELETE automations/:id', { id });
        go('/console/automations');
      }}
    >
      Delete
    </Action>
  );
}
