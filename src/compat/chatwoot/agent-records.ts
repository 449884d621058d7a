import type { Json } from './operation.ts';

/** An agent as they tell it. */
export function theirAgent(agent: Json): Json {
  return { ...agent, available_name: agent['name'], thumbnail: agent['avatar_url'] ?? '' };
}
