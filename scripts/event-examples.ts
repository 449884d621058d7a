// Example bodies of events, made from their schemas: for docs/webhooks.md and the console's catalogue.
import { payloadSchema, type Audience } from '../src/events/catalog.ts';
import { eventsFor, sampleBody } from '../src/events/sample-body.ts';
import { documents } from '../src/schemas.ts';

/** An event, with a body as those get it whom it is told. */
export interface EventExample {
  name: string;
  audience: Audience;
  description: string;
  body: unknown;
}

/** An example of every event that the audience may be told, in the order of the catalogue. */
export function eventExamples(audience: Audience): EventExample[] {
  return eventsFor(audience).map((name) => {
    const { description = '' } = documents.get(payloadSchema(name, audience)) as { description?: string };
    const body: unknown = JSON.parse(sampleBody(name, audience, { id: 1, name: 'Example Ltd' }));
    return { name, audience, description, body };
  });
}

/** The examples as a module for the console. */
export function renderExamples(): string {
  const examples = (['account', 'bot'] as const).flatMap(eventExamples);
  const type = '{ name: string; audience: string; description: string; body: unknown }';
  return [
    '// Generated from the catalogue of events and schemas/events by `npm run schemas`.',
    '',
    '/** Every event, with a body as its audience gets it. */',
    `export const eventExamples: readonly ${type}[] = [`,
    ...examples.map((example) => `  ${JSON.stringify(example)},`),
    '];',
    '',
  ].join('\n');
}
