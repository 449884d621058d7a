import type { NewAttributeDefinition } from '../../../domain/attribute-definitions.ts';
import { oneOf, textOf, type Foreign } from '../values.ts';

const models = ['conversation_attribute', 'contact_attribute'] as const;
const types = ['text', 'number', 'currency', 'percent', 'link', 'date', 'list', 'checkbox'] as const;
const [mostKey, mostName, mostDescription, mostValue, mostValues] = [128, 255, 2000, 255, 100];

/** A definition that can be stored; `problem` is a sentence about values that were changed for it. */
export interface ReadDefinition {
  definition: NewAttributeDefinition;
  problem: string | null;
}

/** Reads the definition of a custom attribute; null without a key, or of a model that has none here. */
export function toAttributeDefinition(given: Foreign): ReadDefinition | null {
  const key = textOf(given['attribute_key'], mostKey);
  const model = wordOf(given['attribute_model'], models);
  if (key === null || model === null) return null;
  const type = wordOf(given['attribute_display_type'], types);
  const { attribute_values: listed } = given;
  const values = Array.isArray(listed) ? listed.flatMap((value: unknown) => textOf(value, mostValue) ?? []) : [];
  const problems = [
    ...(type === null ? ['its type became text'] : []),
    ...(values.length > mostValues ? [`its values were cut after ${mostValues}`] : []),
    ...(textOf(given['regex_pattern'], mostName) === null
      ? []
      : ['its pattern was left out: values are not checked here']),
  ];
  return {
    definition: {
      attributeModel: model,
      attributeKey: key,
      attributeDisplayName: textOf(given['attribute_display_name'], mostName) ?? key,
      attributeDescription: textOf(given['attribute_description'], mostDescription),
      attributeDisplayType: type ?? 'text',
      attributeValues: values.slice(0, mostValues),
    },
    problem: problems.length === 0 ? null : problems.join('; '),
  };
}

// Words in their answers, numbers in their documentation.
function wordOf<Word extends string>(value: unknown, words: readonly Word[]): Word | null {
  return typeof value === 'number' ? (words[value] ?? null) : oneOf(value, words);
}
