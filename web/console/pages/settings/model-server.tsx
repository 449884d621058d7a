import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
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
          ? 'AI bots of this account ask this server, at the expense of whose key it is.'
          : 'AI bots ask the server of the service, if it has one; without any they answer with the passages themselves.'}
      </p>
      {embeddings.state === 'failing' && (
        <p class="note error" role="alert">
          Articles are found by their words alone, as the server gives no embeddings: {embeddings.last_error}
        </p>
      )}
      <div class="panel">
        <ServerForm account={account} changed={changed} />
      </div>
      {llm && (
        <Action
          kind="danger"
          question="Bots of this account then ask the server of the service, if it has one. The stored API key is forgotten."
          done="The account has no model server of its own any more."
          act={async () =>
            changed(await call('PATCH /api/v1/accounts/:account_id', { account_id: id, body: { llm: null } }))
          }
        >
          Remove the model server
        </Action>
      )}
    </>
  );
}

function ServerForm({ account: { id, llm }, changed }: Props) {
  const [url, setUrl] = useState(llm?.base_url ?? '');
  const [model, setModel] = useState(llm?.model ?? '');
  const [embeddingModel, setEmbeddingModel] = useState(llm?.embedding_model ?? '');
  const [key, setKey] = useState('');
  const [isForgotten, setForgotten] = useState(false);
  const hasKey = llm?.has_api_key ?? false;
  async function send(): Promise<void> {
    const given = {
      base_url: url.trim(),
      model: model.trim(),
      embedding_model: embeddingModel.trim() === '' ? null : embeddingModel.trim(),
      // What is left out stays.
      ...(isForgotten ? { api_key: null } : key === '' ? {} : { api_key: key }),
    };
    changed(await call('PATCH /api/v1/accounts/:account_id', { account_id: id, body: { llm: given } }));
    setKey('');
    toast('Saved: bots ask this server from now on.');
  }
  return (
    <Form submit="Save the model server" send={send}>
      {(problemOf) => (
        <>
          <TextField
            label="Base URL"
            hint="Of any server with the API of OpenAI, such as https://api.openai.com/v1"
            type="url"
            required
            value={url}
            onChange={setUrl}
            problem={problemOf('llm/base_url')}
          />
          <TextField label="Model" required value={model} onChange={setModel} problem={problemOf('llm/model')} />
          <TextField
            label="Model for embeddings"
            hint="By which articles are also found by what they mean; empty for none"
            value={embeddingModel}
            onChange={setEmbeddingModel}
            problem={problemOf('llm/embedding_model')}
          />
          <TextField
            label="API key"
            hint={
              hasKey
                ? 'One is stored, and never shown. What you enter takes its place; it stays as long as the host does.'
                : 'It is stored sealed and never shown again. Empty for a server that asks for none.'
            }
            type="password"
            value={key}
            onChange={setKey}
            problem={problemOf('llm/api_key')}
          />
          {hasKey && <CheckField label="Forget the stored API key" checked={isForgotten} onChange={setForgotten} />}
        </>
      )}
    </Form>
  );
}
