import { Migration } from '@mikro-orm/migrations';

/**
 * How often a model has changed the length of its vectors since a moment, so that all passages were embedded anew: whoever
 * embeds them stops after a few times within a day.
 */
export class EmbeddingChanges extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE embedding_tasks ADD changes integer NOT NULL DEFAULT 0, ADD changes_since timestamptz;');
  }
}
