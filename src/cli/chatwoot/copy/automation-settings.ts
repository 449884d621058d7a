import { importAttributeDefinition, importCannedResponse, importWebhook } from '../../../domain/imports/settings.ts';
import { textOf, type Foreign } from '../values.ts';
import type { Copying, Ids } from '../copying.ts';
import { toAttributeDefinition } from '../read/attribute-definition.ts';
import { toCannedResponse } from '../read/canned-response.ts';
import { toChannelWebhook, toWebhook } from '../read/webhook.ts';
import type { Setting } from './settings.ts';

/** How a definition of a custom attribute is copied. */
export function attributeDefinitionSetting({ reporter }: Copying): Setting {
  return {
    counted: 'attribute_definitions',
    kind: 'attribute_definition',
    path: '/custom_attribute_definitions',
    why: 'it has no key, or is of what has no custom attributes here',
    make: (tx, record, given) => {
      const read = toAttributeDefinition(given);
      if (read === null) return null;
      if (read.problem !== null) reporter.remark(`attribute definition ${record.foreignId}`, read.problem);
      return importAttributeDefinition(tx, record, read.definition);
    },
  };
}

/** How a canned response is copied. */
export function cannedResponseSetting({ reporter }: Copying): Setting {
  return {
    counted: 'canned_responses',
    kind: 'canned_response',
    path: '/canned_responses',
    why: 'it has no short code or no content',
    make: (tx, record, given) => {
      const read = toCannedResponse(given);
      if (read === null) return null;
      if (read.problem !== null) reporter.remark(`canned response ${record.foreignId}`, read.problem);
      return importCannedResponse(tx, record, read.response);
    },
  };
}

/** How webhooks are copied: those of the account, and those that API inboxes have as a setting of their channel. */
export function webhookSettings({ sealNewSecret }: Copying, inboxes: Ids): Setting[] {
  const setting = (kind: 'webhook' | 'channel_webhook', read: typeof toWebhook): Omit<Setting, 'path'> => ({
    counted: 'webhooks',
    kind,
    why: 'it has no URL and events that it could have here, or its inbox was not copied',
    make: (tx, record, given) => {
      const webhook = read(given, inboxes);
      return webhook && importWebhook(tx, { ...record, kind }, { ...webhook, sealedSecret: sealNewSecret() });
    },
  });
  return [
    { ...setting('webhook', toWebhook), path: '/webhooks', listName: 'webhooks' },
    { ...setting('channel_webhook', toChannelWebhook), path: '/inboxes', isMeant: hasChannelUrl },
  ];
}

/** Whether the channel of an inbox has a webhook there. */
export function hasChannelUrl({ webhook_url: url }: Foreign): boolean {
  return textOf(url, 1) !== null;
}
