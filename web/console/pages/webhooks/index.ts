import type { Section } from '../../page-row.ts';
import { DeliveriesPage } from './deliveries.tsx';
import { DeliveryPage } from './delivery.tsx';
import { HookRequestPage } from './hook-request.tsx';
import { HookPage } from './hook.tsx';
import { HooksPage } from './hooks.tsx';
import { WebhookPage } from './webhook.tsx';
import { WebhooksPage } from './webhooks.tsx';

export const webhooks: Section = {
  title: 'Webhooks',
  rows: [
    { path: '/console/webhooks', nav: 'Webhooks', administrators: true, view: WebhooksPage },
    { path: '/console/webhooks/:id', administrators: true, view: WebhookPage },
    { path: '/console/deliveries', nav: 'Deliveries', administrators: true, view: DeliveriesPage },
    { path: '/console/deliveries/:id', administrators: true, view: DeliveryPage },
    { path: '/console/hooks', nav: 'Incoming', administrators: true, view: HooksPage },
    { path: '/console/hooks/:id', administrators: true, view: HookPage },
    { path: '/console/hooks/:id/requests/:request_id', administrators: true, view: HookRequestPage },
  ],
};
