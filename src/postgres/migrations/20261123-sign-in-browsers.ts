import { Migration } from '@mikro-orm/migrations';

/** How the browser of a sign-in named itself, by which people know their sign-ins apart. */
export class SignInBrowsers extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE access_tokens ADD user_agent text;');
  }
}
