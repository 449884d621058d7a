import { useState } from 'preact/hooks';
import type { Body, Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';

type Definition = Reply<'GET custom_attribute_definitions'>['payload'][number];
type Model = Definition['attribute_model'];
type Type = Definition['attribute_display_type'];

const models: readonly (readonly [Model, string])[] = [
  ['contact_attribute', 'Customers'],
  ['conversation_attribute', 'Conversations'],
];
const types: readonly (readonly [Type, string])[] = [
  ['text', 'Text'],
  ['number', 'Number'],
  ['currency', 'Amount of money'],
  ['percent', 'Per cent'],
  ['link', 'Link'],
  ['date', 'Date'],
  ['list', 'One of a list'],
  ['checkbox', 'Yes or no'],
];

/** What the custom attributes of customers and conversations are called, and how they are shown. */
export function AttributesPage({ query }: ViewProps) {
  const page = pageOf(query);
  const definitions = useLoad(
    (signal) => call('GET custom_attribute_definitions', { query: { page }, signal }),
    [page],
  );
  const [edited, setEdited] = useState<Definition | 'new' | null>(null);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Custom attributes"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New attribute
          </button>
        )
      }
    >
      <Show of={definitions}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Custom attributes by key"
              rows={payload}
              keyOf={({ id }) => id}
              empty={
                <p>
                  No custom attribute is defined yet.{' '}
                  {mayChange ? 'Define one with “New attribute”' : 'An administrator can define one'}: it is then shown
                  by its name, and as what it is.
                </p>
              }
              columns={[
                { title: 'Name', cell: ({ attribute_display_name: name }) => name },
                { title: 'Key', cell: ({ attribute_key: key }) => <code>{key}</code> },
                { title: 'Of', cell: ({ attribute_model: model }) => wordOf(models, model) },
                { title: 'Shown as', cell: (row) => typeOf(row) },
                { title: 'Description', cell: ({ attribute_description: text }) => text ?? '–' },
                ...(mayChange
                  ? [
                      {
                        title: 'Actions',
                        cell: (row: Definition) => (
                          <DefinitionActions
                            definition={row}
                            edit={() => setEdited(row)}
                            changed={definitions.reload}
                          />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
      {edited && (
        <DefinitionDialog
          definition={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void definitions.reload();
          }}
        />
      )}
    </Page>
  );
}

function wordOf<Value extends string>(words: readonly (readonly [Value, string])[], value: Value): string {
  return words.find(([one]) => one === value)?.[1] ?? value;
}

function typeOf({ attribute_display_type: type, attribute_values: values }: Definition): string {
  const word = wordOf(types, type);
  return type === 'list' && values.length > 0 ? `${word}: ${values.join(', ')}` : word;
}

interface ActionsProps {
  definition: Definition;
  edit: () => void;
  changed: () => Promise<void>;
}

function DefinitionActions({ definition: { id, attribute_display_name: name }, edit, changed }: ActionsProps) {
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </button>
      <Action
        kind="danger"
        label={`Delete ${name}`}
        question={`“${name}” is shown by its key then. The values stay.`}
        done={`“${name}” is not defined any more.`}
        act={async () => {
          await call('DELETE custom_attribute_definitions/:id', { id });
          await changed();
        }}
      >
        Delete
      </Action>
    </div>
  );
}

interface DialogProps {
  /** Null for a new one. */
  definition: Definition | null;
  close: () => void;
  saved: () => void;
}

type Draft = Omit<Definition, 'id' | 'account_id' | 'created_at' | 'updated_at' | 'attribute_description'> & {
  attribute_description: string;
};

const fresh: Draft = {
  attribute_model: 'contact_attribute',
  attribute_key: '',
  attribute_display_name: '',
  attribute_description: '',
  attribute_display_type: 'text',
  attribute_values: [],
};

function draftOf(definition: Definition): Draft {
  return { ...definition, attribute_description: definition.attribute_description ?? '' };
}

function bodyOf(draft: Draft, values: string): NonNullable<Body<'POST custom_attribute_definitions'>> {
  return {
    attribute_model: draft.attribute_model,
    attribute_key: draft.attribute_key,
    attribute_display_name: draft.attribute_display_name,
    attribute_description: draft.attribute_description === '' ? null : draft.attribute_description,
    attribute_display_type: draft.attribute_display_type,
    attribute_values: draft.attribute_display_type === 'list' ? linesOf(values) : [],
  };
}

function DefinitionDialog({ definition, close, saved }: DialogProps) {
  const [draft, setDraft] = useState<Draft>(() => (definition ? draftOf(definition) : fresh));
  const [values, setValues] = useState(draft.attribute_values.join('\n'));
  const set = (changes: Partial<Draft>): void => setDraft((present) => ({ ...present, ...changes }));
  async function send(): Promise<void> {
    const body = bodyOf(draft, values);
    await (definition
      ? call('PATCH custom_attribute_definitions/:id', { id: definition.id, body })
      : call('POST custom_attribute_definitions', { body }));
    saved();
  }
  return (
    <Dialog title={definition ? `Attribute ${definition.attribute_display_name}` : 'New attribute'} onClose={close}>
      <Form submit={definition ? 'Save' : 'Create'} send={send}>
        {(problemOf) => (
          <>
            <ChoiceField
              label="Of"
              value={draft.attribute_model}
              onChange={(model) => set({ attribute_model: model })}
              options={models}
              problem={problemOf('attribute_model')}
            />
            <TextField
              label="Name"
              hint="As it is shown."
              required
              value={draft.attribute_display_name}
              onChange={(name) => set({ attribute_display_name: name })}
              problem={problemOf('attribute_display_name')}
            />
            <TextField
              label="Key"
              hint="Its name in custom_attributes, by which the API knows it."
              required
              value={draft.attribute_key}
              onChange={(key) => set({ attribute_key: key })}
              problem={problemOf('attribute_key')}
            />
            <TextField
              label="Description"
              value={draft.attribute_description}
              onChange={(text) => set({ attribute_description: text })}
              problem={problemOf('attribute_description')}
            />
            <ChoiceField
              label="Shown as"
              hint="No value is held against it: what is something else is shown as it is."
              value={draft.attribute_display_type}
              onChange={(type) => set({ attribute_display_type: type })}
              options={types}
              problem={problemOf('attribute_display_type')}
            />
            {draft.attribute_display_type === 'list' && (
              <TextField
                label="Values"
                hint="One on each line."
                rows={4}
                value={values}
                onChange={setValues}
                problem={problemOf('attribute_values')}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
