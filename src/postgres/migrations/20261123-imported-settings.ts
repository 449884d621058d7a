import { Migration } from '@mikro-orm/migrations';

/** Imports copy definitions of custom attributes and webhooks too; a channel's webhook has the id of its inbox there. */
export class ImportedSettings extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE imported DROP CONSTRAINT imported_kind_check;
      ALTER TABLE imported ADD CONSTRAINT imported_kind_check
        CHECK (kind IN ('inbox', 'agent', 'author', 'team', 'label', 'attribute_definition', 'webhook', 'channel_webhook',
          'contact', 'conversation'));
    `);
  }
}
