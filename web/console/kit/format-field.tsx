import { ChoiceField } from './form.tsx';

/** How the bodies of events look. */
type Format = 'default' | 'chatwoot';

const names: Readonly<Record<Format, string>> = { default: 'Switchboard', chatwoot: 'Chatwoot' };

interface Props {
  value: Format;
  onChange: (format: Format) => void;
  problem: string | undefined;
}

/** The field for what a webhook, or the server of a bot, is sent. */
export function FormatField({ value, onChange, problem }: Props) {
  return (
    <ChoiceField
      label="Format"
      hint="Payload and signature format."
      value={value}
      onChange={onChange}
      problem={problem}
      options={[
        ['default', names.default],
        ['chatwoot', names.chatwoot],
      ]}
    />
  );
}

/** The name of a format that is not the service's own, as one of the facts. */
export function nameOfFormat(format: Format): string | null {
  return format === 'default' ? null : names[format];
}
