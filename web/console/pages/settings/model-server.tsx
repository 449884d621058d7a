import { Action } from '../../kit/action.tsx';
import { useDraft } from '../../kit/draft.ts';
import { CheckField, Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import type { Account } from './account.tsx';

interface Props {
  account: Account;
  changed: (account: Account) => void;
}

/** The model server that the account's bots ask. Its key is written here, and never read. */
export function ModelServer({ account, changed }: Props) {
  const { id, llm, embeddings } = account;
  return (
    <>
      <p>
        {llm
          ? 'AI bots of this account use this server.'
          : 'AI bots use the default model server. Without one, they reply with passages of articles.'}
      </p>
      {embeddings.state === 'failing' && (
        <p class="note error" role="alert">
          Embeddings failed, so search uses keywords only: {embeddings.last_error}
        </p>
      )}
      {llm && llm.embedding_model === null && (
        <p class="note">
          Add an embedding model: AI bots then answer questions in other words than those of the articles.
        </p>
      )}
      <div class="panel">
        <ServerForm account={account} changed={changed} />
      </div>
      {llm && (
        <Action
          kind="danger"
          question="AI bots use the default model server, if there is one. The stored API key is deleted."
          done="Model server removed."
          act={async () =>
            changed(await call('PATCH /api/v1/accounts/:account_id', { account_id: id, body: { llm: null } }))
          }
        >
          {' '}
          Remove model server{' '}
        </Action>
      )}
    </>
  );
}

function ServerForm({ account: { id, llm }, changed }: Props) {
  const draft = useDraft(
    'model server',
    {
      url: llm?.base_url ?? '',
      model: llm?.model ?? '',
      embeddingModel: llm?.embedding_model ?? '',
      key: '',
      isForgotten: false,
    },
    ['key'],
  );
  const { url, model, embeddingModel, key, isForgotten } = draft.value;
  const hasKey = llm?.has_api_key ?? false;
  async function send(): Promise<void> {
    const given = {
      base_url: url.trim(),
      model: model.trim(),
      embedding_model: embeddingModel.trim() === '' ? null : embeddingModel.trim(),
      // Omitted fields keep their value.
      ...(isForgotten ? { api_key: null } : key === '' ? {} : { api_key: key }),
    };
    changed(await call('PATCH /api/v1/accounts/:account_id', { account_id: id, body: { llm: given } }));
    draft.discard();
    toast('Model server saved.');
  }
  return (
    <Form submit="Save model server" send={send} draft={draft}>
      {(problemOf) => (
        <>
          <TextField
            label="Base URL"
            hint="Any OpenAI-compatible server, such as https://api.openai.com/v1"
            type="url"
            required
            value={url}
            onChange={(entered) => draft.set({ url: entered })}
            problem={problemOf('llm/base_url')}
          />
          <TextField
            label="Model"
            required
            value={model}
            onChange={(entered) => draft.set({ model: entered })}
            problem={problemOf('llm/model')}
          />
          <TextField
            label="Embedding model"
            hint="Recommended. Bots answer questions in other words than those of the articles. Empty: keyword search only."
            value={embeddingModel}
            onChange={(entered) => draft.set({ embeddingModel: entered })}
            problem={problemOf('llm/embedding_model')}
          />
          <TextField
            label="API key"
            hint={
              hasKey
                ? 'A key is stored. Enter a new one to replace it. A change of the host deletes it.'
                : 'Stored encrypted and never shown again. Optional.'
            }
            type="password"
            value={key}
            onChange={(entered) => draft.set({ key: entered })}
            problem={problemOf('llm/api_key')}
          />
          {hasKey && (
            <CheckField
              label="Delete stored API key"
              checked={isForgotten}
              onChange={(entered) => draft.set({ isForgotten: entered })}
            />
          )}
        </>
      )}
    </Form>
  );
}
