import { useState } from 'preact/hooks';
import { sentenceOf } from '../../../shared/service-error.ts';
import { useStore } from '../../../shared/store.ts';
import { Action } from '../../kit/action.tsx';
import { RecordDialog, type RecordForm } from '../../kit/record-form.tsx';
import { toast } from '../../kit/toast.tsx';
import { filtersIn, loadSavedViews, savedViews, viewAt, type SavedView } from '../../saved-views.ts';
import { call } from '../../session.ts';

/** Saves the present filters as a view, or renames and deletes the view that has them. */
export function ViewActions({ query }: { query: URLSearchParams }) {
  const view = viewAt(query, useStore(savedViews)) ?? null;
  const [isOpen, setOpen] = useState(false);
  if (filtersIn(query).size === 0) return null;
  return (
    <div class="actions view">
      <button type="button" onClick={() => setOpen(true)}>
        {view ? 'Rename view' : 'Save view'}
      </button>
      {view && (
        <Action
          kind="danger"
          question={`The view “${view.name}” is deleted. Its conversations stay.`}
          done={`View “${view.name}” deleted.`}
          act={async () => {
            await call('DELETE custom_filters/:id', { id: view.id });
            await loadSavedViews();
          }}
        >
          Delete view
        </Action>
      )}
      {isOpen && (
        <RecordDialog
          form={formOf(query)}
          record={view}
          close={() => setOpen(false)}
          saved={() => {
            setOpen(false);
            loadSavedViews().catch((error: unknown) => toast(sentenceOf(error), 'error'));
          }}
        />
      )}
    </div>
  );
}

function formOf(query: URLSearchParams): RecordForm<SavedView, Pick<SavedView, 'name'>> {
  return {
    noun: 'view',
    nameOf: ({ name }) => name,
    fresh: { name: '' },
    draftOf: ({ name }) => ({ name }),
    create: { title: 'Save view', submit: 'Save' },
    fields: () => [
      { name: 'name', label: 'Name', hint: 'Shown in your navigation. Nobody else sees it.', required: true },
    ],
    save: ({ name }, view) =>
      view
        ? call('PATCH custom_filters/:id', { id: view.id, body: { name } })
        : call('POST custom_filters', { body: { name, query: Object.fromEntries(filtersIn(query)) } }),
  };
}
