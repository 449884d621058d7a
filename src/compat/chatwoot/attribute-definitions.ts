import { restOf } from './asking.ts';
import { leaveOut } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/custom_attribute_definitions';
const models = ['conversation_attribute', 'contact_attribute'];
const types = ['text', 'number', 'currency', 'percent', 'link', 'date', 'list', 'checkbox'];

// Their documentation gives kinds as numbers, their answers as words.
function wordOf(words: readonly string[], given: unknown): unknown {
  return typeof given === 'number' || (typeof given === 'string' && /^\d$/.test(given))
    ? (words[Number(given)] ?? given)
    : given;
}

function readDefinition(body: Json): Json {
  const { attribute_model: model, attribute_display_type: type, attribute_values: values, ...rest } = body;
  const given = {
    ...rest,
    attribute_model: wordOf(models, model),
    attribute_display_type: wordOf(types, type),
    attribute_values: Array.isArray(values) ? values.filter((value: unknown) => value !== null) : values,
  };
  return leaveOut(
    given,
    ['', null, undefined],
    [
      'attribute_display_name',
      'attribute_description',
      'attribute_model',
      'attribute_display_type',
      'attribute_values',
    ],
  );
}

function readNewDefinition(body: Json): Json {
  return { attribute_model: models[0], ...readDefinition(body) };
}

async function theirDefinitions(page: Json, asked: Asked): Promise<Json[]> {
  const wanted = wordOf(models, asked.query.get('attribute_model') ?? '');
  const definitions = await restOf(page, asked);
  return definitions.filter(({ attribute_model: model }) => wanted === '' || model === wanted);
}

/** Definitions of custom attributes. */
export const attributeDefinitionOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: theirDefinitions },
  { method: 'POST', path: base, wrapper: 'custom_attribute_definition', body: readNewDefinition },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'custom_attribute_definition', body: readDefinition },
];
