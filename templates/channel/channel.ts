import { defineChannel, secret } from 'switchboard/bot';

/** The settings, as `config` in plugin.json declares them. */
interface Settings {
  api_url: string;
}

/** A request of the other system: a message of a customer, or a receipt for one of ours. */
type Notice =
  | { type: 'message'; id: string; from: string; name?: string; text: string }
  | { type: 'receipt'; id: string; to: string; state: 'delivered' | 'read' };

export default defineChannel<Settings>({
  received(ctx, request) {
    const notice = request.json as Notice;
    if (notice.type === 'receipt') return ctx.channel.status({ external_id: notice.id, status: notice.state });
    const { id, from, name, text } = notice;
    ctx.channel.incoming({ source_id: from, external_id: id, content: text, ...(name ? { name } : {}) });
  },

  async send(ctx, message) {
    const answer = await ctx.fetch(`${ctx.config.api_url}/messages`, {
      method: 'POST',
      headers: { authorization: secret('API_KEY', 'Bearer ') },
      body: { to: message.source_id, text: message.content },
    });
    if (answer.status === 429) throw ctx.channel.later('Rate limited', { seconds: 30 });
    if (answer.status === 403) throw ctx.channel.refused('The customer has blocked us');
    // Any other error is tried again.
    if (answer.status >= 300) throw new Error(`The API answered ${answer.status}`);
    return { external_id: (answer.json() as { id: string }).id };
  },
});
