import type { Body } from '../../../shared/call.ts';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import type { Webhook } from './states.tsx';

type Way = NonNullable<Webhook['auth_type']>;

/** Authentication while it is edited; `kept` leaves what is stored. */
export interface AuthDraft {
  way: Way | 'none' | 'kept';
  token: string;
  username: string;
  password: string;
  certificate: string;
  key: string;
}

/** Names of the ways to authenticate. */
export const ways: Record<Way, string> = { bearer: 'Bearer token', basic: 'Basic', mtls: 'Client certificate (mTLS)' };

const maxHeaders = 20;

/** The draft of a webhook's authentication. Secrets are never shown. */
export function authDraftOf(type: Webhook['auth_type']): AuthDraft {
  const way = type === null ? 'none' : 'kept';
  return { way, token: '', username: '', password: '', certificate: '', key: '' };
}

/** The authentication of a draft, as the service takes it; undefined for a kept one. */
export function authOf({ way, ...draft }: AuthDraft): Body<'PATCH webhooks/:id'>['auth'] | undefined {
  if (way === 'kept') return undefined;
  if (way === 'none') return null;
  if (way === 'bearer') return { type: way, token: draft.token };
  if (way === 'basic') return { type: way, username: draft.username, password: draft.password };
  return { type: way, certificate: draft.certificate, key: draft.key };
}

interface HeadersProps {
  value: Webhook['headers'];
  onChange: (headers: Webhook['headers']) => void;
  problem: string | undefined;
}

/** Headers of each delivery; a stored value stays where it is masked. */
export function HeadersField({ value, onChange, problem }: HeadersProps) {
  const put = (index: number, change: Partial<Webhook['headers'][number]>): void =>
    onChange(value.map((one, at) => (at === index ? { ...one, ...change } : one)));
  return (
    <fieldset>
      <legend>Headers</legend>
      {value.map((header, index) => (
        // Headers have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div class="condition" key={index}>
          <TextField label={`Header ${index + 1}`} value={header.name} onChange={(name) => put(index, { name })} />
          <TextField
            label={`Value ${index + 1}`}
            value={header.value}
            onChange={(text) => put(index, { value: text })}
          />
          <button type="button" onClick={() => onChange(value.filter((_, at) => at !== index))}>
            Remove header {index + 1}
          </button>
        </div>
      ))}
      {value.length < maxHeaders && (
        <button type="button" onClick={() => onChange([...value, { name: '', value: '' }])}>
          Add header
        </button>
      )}
      {value.length > 0 && (
        <small>Values are stored encrypted and never shown again. •••• keeps the stored value.</small>
      )}
      {problem && <small class="problem">{problem}</small>}
    </fieldset>
  );
}

interface AuthProps {
  stored: Webhook['auth_type'];
  value: AuthDraft;
  onChange: (value: AuthDraft) => void;
  problem: string | undefined;
}

/** How the receiver authenticates deliveries beside the signature. */
export function AuthField({ stored, value, onChange, problem }: AuthProps) {
  const field = (name: Exclude<keyof AuthDraft, 'way'>) => ({
    value: value[name],
    onChange: (text: string) => onChange({ ...value, [name]: text }),
  });
  return (
    <fieldset>
      <legend>Authentication</legend>
      <ChoiceField
        label="Type"
        value={value.way}
        onChange={(way) => onChange({ ...value, way })}
        problem={problem}
        options={[
          ['none', 'None'],
          ...(stored === null ? [] : [['kept', `${ways[stored]} (unchanged)`] as const]),
          ...(['bearer', 'basic', 'mtls'] as const).map((way) => [way, ways[way]] as const),
        ]}
      />
      {value.way === 'bearer' && <TextField label="Token" type="password" {...field('token')} />}
      {value.way === 'basic' && <TextField label="Username" {...field('username')} />}
      {value.way === 'basic' && <TextField label="Password" type="password" {...field('password')} />}
      {value.way === 'mtls' && (
        <TextField label="Certificate" hint="PEM, with its chain." rows={4} {...field('certificate')} />
      )}
      {value.way === 'mtls' && (
        <TextField label="Private key" hint="PEM, without a passphrase." rows={4} {...field('key')} />
      )}
    </fieldset>
  );
}
