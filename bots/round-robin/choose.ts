/** An agent, and when the agent is there; at all times without hours. */
export interface WorkingAgent {
  agent_id: number;
  days?: readonly number[];
  opens?: number;
  closes?: number;
}

/** Returns the agents who are there at a moment. */
export function presentAgents(agents: readonly WorkingAgent[], now: Date, timezone: string): WorkingAgent[] {
  const { day, hour } = localTime(now, timezone);
  return agents.filter(
    ({ days, opens = 0, closes = 24 }) => (!days || days.includes(day)) && hour >= opens && hour < closes,
  );
}

/** Returns the agent with the fewest conversations, of several the next in turn; null if all have the most. */
export function chooseAgent(
  agents: readonly { id: number; load: number }[],
  { most, turn }: { most: number; turn: number },
): number | null {
  const free = agents.filter(({ load }) => load < most);
  const least = Math.min(...free.map(({ load }) => load));
  const candidates = free.filter(({ load }) => load === least);
  return candidates[turn % candidates.length]?.id ?? null;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function localTime(now: Date, timeZone: string): { day: number; hour: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  return {
    day: weekdays.indexOf(parts.get('weekday') ?? ''),
    hour: Number(parts.get('hour')) + Number(parts.get('minute')) / 60,
  };
}
