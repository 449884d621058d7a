import type { Body, Reply } from '../../../shared/call.ts';
import { CrudPage } from '../../kit/crud-page.tsx';
import { linesOf, optionText } from '../../kit/form.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';

type Definition = Reply<'GET custom_attribute_definitions'>['payload'][number];
type Model = Definition['attribute_model'];
type Type = Definition['attribute_display_type'];

/** The values of a list are one text, one on each line. */
type Draft = Pick<
  Definition,
  'attribute_model' | 'attribute_key' | 'attribute_display_name' | 'attribute_display_type'
> & { attribute_description: string; attribute_values: string };

const models: readonly (readonly [Model, string])[] = [
  ['contact_attribute', 'Contact'],
  ['conversation_attribute', 'Conversation'],
];
const types: readonly (readonly [Type, string])[] = [
  ['text', 'Text'],
  ['number', 'Number'],
  ['currency', 'Currency'],
  ['percent', 'Percent'],
  ['link', 'Link'],
  ['date', 'Date'],
  ['list', 'List'],
  ['checkbox', 'Checkbox'],
];

const form: RecordForm<Definition, Draft> = {
  noun: 'attribute',
  nameOf: ({ attribute_display_name: name }) => name,
  fresh: {
    attribute_model: 'contact_attribute',
    attribute_key: '',
    attribute_display_name: '',
    attribute_description: '',
    attribute_display_type: 'text',
    attribute_values: '',
  },
  draftOf: (definition) => ({
    attribute_model: definition.attribute_model,
    attribute_key: definition.attribute_key,
    attribute_display_name: definition.attribute_display_name,
    attribute_description: definition.attribute_description ?? '',
    attribute_display_type: definition.attribute_display_type,
    attribute_values: definition.attribute_values.join('\n'),
  }),
  fields: ({ attribute_display_type: type }) => [
    { name: 'attribute_model', label: 'Applies to', options: models },
    { name: 'attribute_display_name', label: 'Name', hint: 'Shown to agents.', required: true },
    { name: 'attribute_key', label: 'Key', hint: 'Its name in custom_attributes of the API.', required: true },
    { name: 'attribute_description', label: 'Description' },
    {
      name: 'attribute_display_type',
      label: 'Type',
      hint: 'Values are not validated. A value of another type is shown as text.',
      options: types,
    },
    ...(type === 'list'
      ? [{ name: 'attribute_values', label: 'Values', hint: 'One per line.', type: 'lines' } as const]
      : []),
  ],
  save: (draft, definition) => {
    const body: NonNullable<Body<'POST custom_attribute_definitions'>> = {
      ...draft,
      attribute_description: draft.attribute_description || null,
      attribute_values: draft.attribute_display_type === 'list' ? linesOf(draft.attribute_values) : [],
    };
    return definition
      ? call('PATCH custom_attribute_definitions/:id', { id: definition.id, body })
      : call('POST custom_attribute_definitions', { body });
  },
};

/** The custom attributes of contacts and conversations: their names, and how they are shown. */
export function AttributesPage({ query }: ViewProps) {
  const page = pageOf(query);
  return (
    <CrudPage
      title="Custom attributes"
      caption="Custom attributes by key"
      inputs={[page]}
      load={(signal) => call('GET custom_attribute_definitions', { query: { page }, signal })}
      form={form}
      empty={
        <p>
          No custom attributes yet. {isAdministrator() ? 'Create one' : 'Administrators create them'} to give a value a
          name and a type.
        </p>
      }
      columns={[
        { title: 'Name', kind: 'text', cell: ({ attribute_display_name: name }) => name },
        { title: 'Key', kind: 'text', cell: ({ attribute_key: key }) => <code>{key}</code> },
        { title: 'Applies to', kind: 'fit', cell: ({ attribute_model: model }) => optionText(models, model) },
        { title: 'Type', kind: 'text', cell: (row) => typeOf(row) },
        { title: 'Description', kind: 'text', isExtra: true, cell: ({ attribute_description: text }) => text ?? '–' },
      ]}
      remove={{
        question: (name) => `Values of “${name}” stay, and are shown by key.`,
        done: (name) => `Attribute “${name}” deleted.`,
        act: ({ id }) => call('DELETE custom_attribute_definitions/:id', { id }),
      }}
    />
  );
}

function typeOf({ attribute_display_type: type, attribute_values: values }: Definition): string {
  const text = optionText(types, type);
  return type === 'list' && values.length > 0 ? `${text}: ${values.join(', ')}` : text;
}
