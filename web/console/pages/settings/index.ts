import type { Section } from '../../page-row.ts';
import { AccountPage } from './account.tsx';
import { AgentsPage } from './agents.tsx';
import { AttributesPage } from './attributes.tsx';
import { AuditLogPage } from './audit-log.tsx';
import { CannedResponsesPage } from './canned-responses.tsx';
import { InboxPage } from './inbox.tsx';
import { InboxesPage } from './inboxes.tsx';
import { LabelsPage } from './labels.tsx';
import { MacrosPage } from './macros.tsx';
import { PlatformPage } from './platform.tsx';
import { SecurityPage } from './security.tsx';
import { SlaPoliciesPage } from './sla-policies.tsx';
import { SignInsPage } from './sign-ins.tsx';
import { TeamsPage } from './teams.tsx';
import { TokensPage } from './tokens.tsx';

export const settings: Section = {
  title: 'Settings',
  rows: [
    { path: '/console/settings/inboxes', nav: 'Inboxes', view: InboxesPage },
    { path: '/console/settings/inboxes/:id', view: InboxPage },
    { path: '/console/settings/agents', nav: 'Agents', view: AgentsPage },
    { path: '/console/settings/teams', nav: 'Teams', view: TeamsPage },
    { path: '/console/settings/labels', nav: 'Labels', view: LabelsPage },
    { path: '/console/settings/canned-responses', nav: 'Canned responses', view: CannedResponsesPage },
    { path: '/console/settings/macros', nav: 'Macros', view: MacrosPage },
    { path: '/console/settings/attributes', nav: 'Custom attributes', view: AttributesPage },
    { path: '/console/settings/sla-policies', nav: 'SLA policies', view: SlaPoliciesPage },
    { path: '/console/settings/security', nav: 'Security', view: SecurityPage },
    { path: '/console/settings/sign-ins', nav: 'Sign-ins', view: SignInsPage },
    { path: '/console/settings/account', nav: 'Account', administrators: true, view: AccountPage },
    { path: '/console/settings/audit-log', nav: 'Audit log', administrators: true, view: AuditLogPage },
    { path: '/console/settings/tokens', nav: 'Access token', view: TokensPage },
    { path: '/console/settings/platform', nav: 'Platform', platform: true, view: PlatformPage },
  ],
};
