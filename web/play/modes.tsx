const words: Readonly<Record<string, string>> = {
  ok: 'Respond 200',
  fail: 'Respond 500',
  hang: 'Time out',
  slow: 'Respond after 3 s',
  gone: 'Respond 410 (disables webhooks)',
};

interface Props {
  mode: string;
  modes: readonly string[];
  choose: (mode: string) => void;
}

/** The choice how the receiver answers. */
export function Modes({ mode, modes, choose }: Props) {
  return (
    <fieldset>
      <legend>Response</legend>
      {modes.map((one) => (
        <label key={one}>
          <input type="radio" name="mode" value={one} checked={one === mode} onChange={() => choose(one)} />{' '}
          {words[one] ?? one}
        </label>
      ))}
    </fieldset>
  );
}
